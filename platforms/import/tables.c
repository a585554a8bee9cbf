/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/import/parts.h"

#include <string.h>

static const struct wire infiniband = {
    "nic",
    1,
    0.9,
    0.2e-6,
    "InfiniBand: 0.9 to 0.97 of the line rate reached, 0.9 taken; 0.6 us end to end with the switch",
    CONFIDENCE_H};
static const struct wire slingshot = {
    "nic",       1, 0.9, 0.65e-6, "Slingshot: 0.9 of the line rate as for InfiniBand, estimated; MPI about 2 us",
    CONFIDENCE_M};
static const struct wire efa = {
    "nic", 1, 0.83, 7e-6, "EFA: 83 % of the line rate reached by nccl-tests; MPI about 15 us recalled", CONFIDENCE_M};

static const struct nic_model nics[] = {
    {0x15b3, 0x1023, 100, "ConnectX-8 800 Gb/s", &infiniband},
    {0x15b3, 0x1021, 50, "ConnectX-7 400 Gb/s", &infiniband},
    {0x15b3, 0xa2dc, 50, "BlueField-3 400 Gb/s", &infiniband},
    {0x15b3, 0x101b, 25, "ConnectX-6 200 Gb/s", &infiniband},
    {0x15b3, 0x101d, 12.5, "ConnectX-6 Dx 100 Gb/s", &infiniband},
    {0x15b3, 0x1019, 12.5, "ConnectX-5 Ex 100 Gb/s", &infiniband},
    {0x15b3, 0x1017, 12.5, "ConnectX-5 100 Gb/s", &infiniband},
    {0x15b3, 0x1018, 12.5, "ConnectX-5 virtual function 100 Gb/s", &infiniband},
    {0x15b3, 0x101c, 25, "ConnectX-6 virtual function 200 Gb/s", &infiniband},
    {0x15b3, 0x1013, 12.5, "ConnectX-4 100 Gb/s", &infiniband},
    {0x15b3, 0x101f, 3.125, "ConnectX-6 Lx 25 Gb/s", &infiniband},
    {0x15b3, 0x1011, 7, "Connect-IB 56 Gb/s", &infiniband},
    {0x15b3, 0x1007, 7, "ConnectX-3 Pro 56 Gb/s", &infiniband},
    {0x15b3, 0x1003, 7, "ConnectX-3 56 Gb/s", &infiniband},
    {0x17db, 0x0501, 25, "Slingshot-11 Cassini 200 Gb/s", &slingshot},
    {0x1d0f, 0xefa0, 12.5, "EFA 100 Gb/s", &efa},
    {0x1d0f, 0xefa1, 12.5, "EFA 100 Gb/s", &efa},
    {0x1d0f, 0xefa2, 25, "EFA 200 Gb/s", &efa},
    {0x8086, 0x24f0, 12.5, "Omni-Path 100 Gb/s", &infiniband},
    {0x8086, 0x24f1, 12.5, "Omni-Path 100 Gb/s", &infiniband},
};

const struct nic_model *nic_find(uint16_t vendor, uint16_t device)
{
    for (size_t i = 0; i < sizeof nics / sizeof *nics; i++)
        if (nics[i].vendor == vendor && nics[i].device == device)
            return &nics[i];
    return NULL;
}

const struct nic_model *nic_generic(void)
{
    static const struct nic_model unknown = {0, 0, 0, "network interface", &infiniband};
    return &unknown;
}

/* NVIDIA/nccl src/graph/topo.h: what devices reach from socket to socket. */
static double intel_link(unsigned family, unsigned number, const char **name)
{
    *name = "Intel UPI or QPI";
    if (family != 6 && family != 0)
        return 0;
    switch (number) {
    case 0x3f: /* Haswell */
    case 0x4f: /* Broadwell */
    case 0x56:
        *name = "Intel QPI of Haswell or Broadwell";
        return 6;
    case 0x55:
        *name = "Intel UPI of Skylake or Cascade Lake";
        return 10;
    case 0x6a: /* Ice Lake */
    case 0x6c:
        *name = "Intel UPI of Ice Lake, taken as Skylake's";
        return 10;
    case 0x8f:
        *name = "Intel UPI of Sapphire Rapids";
        return 22;
    case 0xcf:
        *name = "Intel UPI of Emerald Rapids";
        return 40;
    default:
        return 0;
    }
}

double socket_link_of(const char *vendor, const char *model, unsigned family, unsigned number, const char **name)
{
    *name = NULL;
    if (vendor && strcmp(vendor, "GenuineIntel") == 0)
        return intel_link(family, number, name);
    if (vendor && strcmp(vendor, "AuthenticAMD") == 0) {
        *name = "AMD Infinity Fabric between sockets";
        return 16;
    }
    if (model && strncmp(model, "POWER9", 6) == 0) {
        *name = "POWER9 X-bus";
        return 32;
    }
    if (model && strncmp(model, "POWER8", 6) == 0) {
        *name = "POWER8 X-bus, taken as POWER9's";
        return 32;
    }
    if (vendor && (strcmp(vendor, "ARM") == 0 || strcmp(vendor, "0x41") == 0)) {
        *name = "Arm sockets";
        return 6;
    }
    return 0;
}
