/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/presets/interfaces.h"

#include "platforms/presets/presets.h"

#include <string.h>

#define US 1e-6

static const char infiniband[] =
    "InfiniBand: 0.9 to 0.97 of raw reached, 0.9 taken; 0.5 to 0.6 us end to end with the switch";
static const char roce[] = "RoCE v2: 0.85 of raw estimated, below InfiniBand for its headers and congestion control; "
                           "about 1 us end to end estimated";
static const char tcp[] = "Ethernet with TCP through the host's kernel: 0.9 of raw up to 25 Gb/s, 0.6 above, where "
                          "copies limit, and 25 us end "
                          "to end; estimated";

static const char efa[] =
    "EFA: 83 % of 100 Gb/s reached by nccl-tests on two p4de nodes, 70 % by the later generations; "
    "MPI latency of about 15 us recalled";

static const struct interface interfaces[] = {
    {"ib-fdr",
     "InfiniBand",
     "InfiniBand FDR",
     {"nic", 6.79, 6.11, 0.2 * US, infiniband, CONFIDENCE_H},
     &network_infiniband},
    {"ib-edr",
     "InfiniBand",
     "InfiniBand EDR",
     {"nic", 12.5, 11.25, 0.2 * US, infiniband, CONFIDENCE_H},
     &network_infiniband},
    {"ib-hdr",
     "InfiniBand",
     "InfiniBand HDR",
     {"nic", 25, 22.5, 0.2 * US, infiniband, CONFIDENCE_H},
     &network_infiniband},
    {"ib-ndr",
     "InfiniBand",
     "InfiniBand NDR",
     {"nic", 50, 45, 0.2 * US, infiniband, CONFIDENCE_H},
     &network_infiniband},
    {"roce-100", "RoCE", "RoCE of 100 Gb/s", {"nic", 12.5, 10.625, 0.4 * US, roce, CONFIDENCE_L}, &network_roce},
    {"roce-200", "RoCE", "RoCE of 200 Gb/s", {"nic", 25, 21.25, 0.4 * US, roce, CONFIDENCE_L}, &network_roce},
    {"roce-400", "RoCE", "RoCE of 400 Gb/s", {"nic", 50, 42.5, 0.4 * US, roce, CONFIDENCE_L}, &network_roce},
    {"efa-100", "EFA", "EFA of 100 Gb/s", {"nic", 12.5, 10.4, 7 * US, efa, CONFIDENCE_M}, &network_efa},
    {"efa-200", "EFA", "EFA of 200 Gb/s", {"nic", 25, 17.5, 7 * US, efa, CONFIDENCE_M}, &network_efa_2},
    {"efa-400", "EFA", "EFA of 400 Gb/s", {"nic", 50, 35, 7 * US, efa, CONFIDENCE_M}, &network_efa_2},
    {"ethernet-10", "Ethernet", "Ethernet of 10 Gb/s", {"nic", 1.25, 1.125, 12 * US, tcp, CONFIDENCE_L}, &network_tcp},
    {"ethernet-25",
     "Ethernet",
     "Ethernet of 25 Gb/s",
     {"nic", 3.125, 2.8125, 12 * US, tcp, CONFIDENCE_L},
     &network_tcp},
    {"ethernet-100", "Ethernet", "Ethernet of 100 Gb/s", {"nic", 12.5, 7.5, 12 * US, tcp, CONFIDENCE_L}, &network_tcp},
};

const struct interface *interface_table(size_t *count)
{
    *count = sizeof interfaces / sizeof *interfaces;
    return interfaces;
}

const struct interface *interface_find(const char *name)
{
    for (size_t i = 0; i < sizeof interfaces / sizeof *interfaces; i++)
        if (strcmp(interfaces[i].name, name) == 0)
            return &interfaces[i];
    return NULL;
}
