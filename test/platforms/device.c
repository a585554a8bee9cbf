/* SPDX-License-Identifier: Apache-2.0 */
/* Which row of the table a number in a topology file stands for. The numbers are written down once more, from what the
 * makers say: compute capabilities by NVIDIA's list of CUDA GPUs, PCI ids by pci-ids.ucw.cz, NVLinks and their rates by
 * NVIDIA's pages on NVLink, PCI Express by PCI-SIG: GT/s x 16 lanes / 8 bits, 8b/10b up to Gen2, 128b/130b from Gen3.
 */
#include "platforms/device.h"
#include "platforms/properties.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static void is_row(const struct device_model *model, const char *name)
{
    if (name)
        cr_assert(model && strcmp(model->name, name) == 0, "%s, expected %s", model ? model->name : "none", name);
    else
        cr_assert(model == NULL, "%s, expected none", model->name);
}

Test(device, compute_capability)
{
    static const struct {
        unsigned capability;
        const char *board, *card;
    } cases[] = {{60, "P100-SXM2-16GB", "P100-PCIE-16GB"},
                 {70, "V100-SXM2-16GB", "V100-PCIE-16GB"},
                 {75, "T4", "T4"},
                 {80, "A100-SXM4-40GB", "A100-PCIE-40GB"},
                 {86, "A10", "A10"},
                 {90, "H100-SXM5-80GB", "H100-PCIE-80GB"},
                 {100, "B200-180GB", "B200-180GB"},
                 {61, NULL, NULL},
                 {0, NULL, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        is_row(device_of_capability(cases[i].capability, true), cases[i].board);
        is_row(device_of_capability(cases[i].capability, false), cases[i].card);
    }
}

Test(device, pci_ids)
{
    static const struct {
        unsigned vendor, device;
        const char *name;
    } cases[] = {{0x10de, 0x15f8, "P100-PCIE-16GB"},
                 {0x10de, 0x1db1, "V100-SXM2-16GB"},
                 {0x10de, 0x1eb8, "T4"},
                 {0x10de, 0x20b2, "A100-SXM4-80GB"},
                 {0x10de, 0x20f3, "A800-SXM4-80GB"},
                 {0x10de, 0x2230, "RTX-A6000"},
                 {0x10de, 0x2235, "A40"},
                 {0x10de, 0x2684, "RTX-4090"},
                 {0x10de, 0x27b8, "L4"},
                 {0x10de, 0x2330, "H100-SXM5-80GB"},
                 {0x10de, 0x2335, "H200-SXM5-141GB"},
                 {0x10de, 0x2901, "B200-180GB"},
                 {0x1002, 0x740c, "MI250X-GCD"},
                 {0x1002, 0x74a0, "MI300A"},
                 {0x1002, 0x74a1, "MI300X"},
                 {0x1002, 0x74b5, "MI300X"},
                 {0x1002, 0x74a5, "MI325X"},
                 {0x1002, 0x75a3, "MI355X"},
                 {0x8086, 0x0bd6, "PVC-1550"},
                 {0x1002, 0x2330, NULL},
                 {0x10de, 0x74a1, NULL},
                 {0x10de, 0, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_row(device_of_pci(cases[i].vendor, cases[i].device), cases[i].name);
}

/* Names of products, and how much memory tells variants apart. */
Test(device, product_names)
{
    static const struct {
        const char *product;
        double gib;
        const char *name;
    } cases[] = {{"NVIDIA H200", 140, "H200-SXM5-141GB"},
                 {"Tesla T4", 15, "T4"},
                 {"T400", 2, NULL},
                 {"NVIDIA A100-SXM4-80GB", 80, "A100-SXM4-80GB"},
                 {"NVIDIA A100-SXM4-40GB", 40, "A100-SXM4-40GB"},
                 {"NVIDIA A800-SXM4-80GB", 79, "A800-SXM4-80GB"},
                 {"NVIDIA A800 80GB PCIe", 79, "A800-PCIE-80GB"},
                 {"NVIDIA RTX A6000", 48, "RTX-A6000"},
                 {"NVIDIA GeForce RTX 5090", 31.8, "RTX-5090"},
                 {"NVIDIA GeForce RTX 4090", 24, "RTX-4090"},
                 {"NVIDIA GeForce RTX 3090", 24, "RTX-3090"},
                 {"NVIDIA A40", 45, "A40"},
                 {"NVIDIA L40S", 45, "L40S"},
                 {"NVIDIA L4", 22.5, "L4"},
                 {"Voodoo 3", 0.016, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_row(device_match(cases[i].product, cases[i].gib * 1073741824), cases[i].name);
    is_row(device_match(NULL, 0), NULL);
    is_row(device_find("H100"), NULL);
}

Test(device, rates_by_generation)
{
    static const unsigned counts[] = {0, 4, 6, 12, 18, 18, 0, 0};
    static const double raw[] = {0, 20, 25, 25, 25, 50, 0, 0};
    static const double transfers[] = {0, 2.5, 5, 8, 16, 32};
    for (unsigned generation = 0; generation < 8; generation++) {
        double effective = nvlink_effective(generation);
        const struct device_model usual = {.nvlink_generation = generation},
                                  fewer = {.nvlink_generation = generation, .nvlinks = 2};
        cr_assert_eq(nvlink_count(&usual), counts[generation], "NVLink %u", generation);
        cr_assert_eq(nvlink_count(&fewer), 2);
        cr_assert_eq(nvlink_raw(generation), raw[generation], "NVLink %u", generation);
        cr_assert(raw[generation] == 0 ? effective == 0
                                       : effective > 0.75 * raw[generation] && effective < raw[generation],
                  "copies reach %g of %g GB/s of NVLink %u", effective, raw[generation], generation);
    }
    for (unsigned generation = 0; generation < 6; generation++) {
        double rate = transfers[generation] * 16 / 8 * (generation < 3 ? 0.8 : 128.0 / 130);
        cr_assert(fabs(pcie_raw(generation) - rate) < 0.006, "PCIe %u: %g GB/s", generation, pcie_raw(generation));
    }
    cr_assert(pcie_raw(6) > 115 && pcie_raw(6) < 128, "flits and error correction leave less than 128 GB/s");
    cr_assert_eq(pcie_raw(7), 0);
}

Test(device, words)
{
    static const char *const names[] = {"fp32", "tf32", "fp16", "bf16", "fp8", "fp4"};
    for (int i = 0; i < PRECISIONS; i++)
        cr_assert_str_eq(precision_name((enum precision)i), names[i]);
    for (int i = 0; i < PRECISIONS; i++) {
        bool read = false;
        for (const char *const *key = properties_host_keys; *key; key++)
            read |= !strncmp(*key, "peak_", 5) && !strcmp(*key + 5, names[i]);
        cr_assert(read, "hosts of a file have no peak_%s", names[i]);
    }
    cr_assert(confidence_letter(CONFIDENCE_H) == 'H' && confidence_letter(CONFIDENCE_M) == 'M' &&
              confidence_letter(CONFIDENCE_L) == 'L');
}
