/* SPDX-License-Identifier: Apache-2.0 */
/* The program's functions under their own names, for the files of this folder, which are a library of their own: see
 * simulator/engines/simgrid_part.h. To be included after every other header. */
#ifndef STAGESIM_SIMGRID_SERVICES_H
#define STAGESIM_SIMGRID_SERVICES_H

#include "simulator/engines/simgrid_part.h"

#ifdef __cplusplus
extern "C"
#else
extern
#endif
    const struct simgrid_services *simgrid_services;

#define arena_alloc(...) (*simgrid_services->to_arena_alloc)(__VA_ARGS__)
#define arena_array(...) (*simgrid_services->to_arena_array)(__VA_ARGS__)
#define arena_copy(...) (*simgrid_services->to_arena_copy)(__VA_ARGS__)
#define arena_create(...) (*simgrid_services->to_arena_create)(__VA_ARGS__)
#define arena_destroy(...) (*simgrid_services->to_arena_destroy)(__VA_ARGS__)
#define arena_print(...) (*simgrid_services->to_arena_print)(__VA_ARGS__)
#define assignment_all_flows(...) (*simgrid_services->to_assignment_all_flows)(__VA_ARGS__)
#define assignment_choose(...) (*simgrid_services->to_assignment_choose)(__VA_ARGS__)
#define assignment_flows(...) (*simgrid_services->to_assignment_flows)(__VA_ARGS__)
#define collective_flow_at(...) (*simgrid_services->to_collective_flow_at)(__VA_ARGS__)
#define collective_phase_end(...) (*simgrid_services->to_collective_phase_end)(__VA_ARGS__)
#define engine_analytic (*simgrid_services->to_engine_analytic)
#define fault_set(...) (*simgrid_services->to_fault_set)(__VA_ARGS__)
#define group_instances(...) (*simgrid_services->to_group_instances)(__VA_ARGS__)
#define group_ranks(...) (*simgrid_services->to_group_ranks)(__VA_ARGS__)
#define group_size(...) (*simgrid_services->to_group_size)(__VA_ARGS__)
#define host_memory_platform(...) (*simgrid_services->to_host_memory_platform)(__VA_ARGS__)
#define library_complete(...) (*simgrid_services->to_library_complete)(__VA_ARGS__)
#define library_owns(...) (*simgrid_services->to_library_owns)(__VA_ARGS__)
#define library_set(...) (*simgrid_services->to_library_set)(__VA_ARGS__)
#define overlap_share(...) (*simgrid_services->to_overlap_share)(__VA_ARGS__)
#define platform_file_check(...) (*simgrid_services->to_platform_file_check)(__VA_ARGS__)
#define platform_sound(...) (*simgrid_services->to_platform_sound)(__VA_ARGS__)
#define position_group_stream(...) (*simgrid_services->to_position_group_stream)(__VA_ARGS__)
#define program_offloads(...) (*simgrid_services->to_program_offloads)(__VA_ARGS__)
#define properties_host_keys (*simgrid_services->to_properties_host_keys)
#define properties_set(...) (*simgrid_services->to_properties_set)(__VA_ARGS__)
#define properties_link_watts(...) (*simgrid_services->to_properties_link_watts)(__VA_ARGS__)
#define rating_find(...) (*simgrid_services->to_rating_find)(__VA_ARGS__)
#define stream_route(...) (*simgrid_services->to_stream_route)(__VA_ARGS__)
#define timeline_finish_receives(...) (*simgrid_services->to_timeline_finish_receives)(__VA_ARGS__)
#define timeline_reset(...) (*simgrid_services->to_timeline_reset)(__VA_ARGS__)

#endif
