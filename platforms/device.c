/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/device.h"

#include <ctype.h>
#include <string.h>

/* Short names of sources. MLE: Stas Bekman, Machine Learning Engineering, compute/accelerator; OLCF, ALCF: user guides
 * of the centres; PM: owensgroup/ml_perf_model (measurements); GC: Graphcore IPU-M2000 data sheet; SB:
 * jax-ml/scaling-book. */
static const struct device_model models[] = {
    {"K80-12GB",
     PRECISION_FP32,
     {4.37, 0, 0, 0, 0},
     "12GiB",
     240,
     30,
     150,
     0,
     3,
     "NVIDIA Tesla K80 data sheet, half a board at boost clocks; idle estimated",
     CONFIDENCE_M},
    {"P100-SXM2-16GB",
     PRECISION_FP32,
     {10.6, 0, 21.2, 0, 0},
     "16GiB",
     732,
     30,
     300,
     1,
     3,
     "NVIDIA P100 data sheet; idle estimated",
     CONFIDENCE_M},
    {"P100-PCIE-16GB",
     PRECISION_FP32,
     {9.3, 0, 18.7, 0, 0},
     "16GiB",
     732,
     27,
     250,
     0,
     3,
     "NVIDIA P100 data sheet; PM measures 9.34 Tf fp32 and 543 GB/s; idle estimated",
     CONFIDENCE_M},
    {"V100-SXM2-16GB",
     PRECISION_FP16,
     {15.7, 0, 125, 0, 0},
     "16GiB",
     900,
     53,
     300,
     2,
     3,
     "NVIDIA V100 data sheet; PM measures 15.44 Tf fp32 and 817 GB/s; idle 53 W at P0 with a context",
     CONFIDENCE_M},
    {"V100-SXM2-32GB",
     PRECISION_FP16,
     {15.7, 0, 125, 0, 0},
     "32GiB",
     900,
     53,
     300,
     2,
     3,
     "NVIDIA V100 data sheet; idle 53 W at P0 with a context",
     CONFIDENCE_M},
    {"V100-SXM3-32GB",
     PRECISION_FP16,
     {15.7, 0, 125, 0, 0},
     "32GiB",
     900,
     50,
     350,
     2,
     3,
     "NVIDIA DGX-2 data sheet; idle estimated",
     CONFIDENCE_M},
    {"V100-PCIE-16GB",
     PRECISION_FP16,
     {14, 0, 112, 0, 0},
     "16GiB",
     900,
     40,
     250,
     0,
     3,
     "NVIDIA V100 data sheet; idle estimated",
     CONFIDENCE_M},
    {"V100-PCIE-32GB",
     PRECISION_FP16,
     {14, 0, 112, 0, 0},
     "32GiB",
     900,
     40,
     250,
     0,
     3,
     "NVIDIA V100 data sheet; idle estimated",
     CONFIDENCE_M},
    {"T4",
     PRECISION_FP16,
     {8.1, 0, 65, 0, 0},
     "16GiB",
     320,
     10,
     70,
     0,
     3,
     "NVIDIA T4 data sheet; idle estimated",
     CONFIDENCE_M},
    {"A10",
     PRECISION_BF16,
     {31.2, 62.5, 125, 125, 0},
     "24GiB",
     600,
     16,
     150,
     0,
     4,
     "NVIDIA A10 data sheet; idle estimated",
     CONFIDENCE_M},
    {"A100-SXM4-40GB",
     PRECISION_BF16,
     {19.5, 156, 312, 312, 0},
     "40GiB",
     1555,
     55,
     400,
     3,
     4,
     "MLE; ALCF; PM measures 1391 GB/s; idle estimated",
     CONFIDENCE_H},
    {"A100-SXM4-80GB",
     PRECISION_BF16,
     {19.5, 156, 312, 312, 0},
     "80GiB",
     2039,
     60,
     400,
     3,
     4,
     "MLE; idle estimated",
     CONFIDENCE_H},
    {"A100-SXM4-64GB",
     PRECISION_BF16,
     {19.5, 156, 312, 312, 0},
     "64GiB",
     1640,
     60,
     440,
     3,
     4,
     "CINECA, Leonardo (arXiv 2307.16885): custom A100 with 64 GB; peaks as the A100's, memory rate recalled, idle "
     "estimated",
     CONFIDENCE_M},
    {"A100-PCIE-40GB",
     PRECISION_BF16,
     {19.5, 156, 312, 312, 0},
     "40GiB",
     1555,
     40,
     250,
     0,
     4,
     "NVIDIA A100 data sheet; idle estimated",
     CONFIDENCE_M},
    {"A100-PCIE-80GB",
     PRECISION_BF16,
     {19.5, 156, 312, 312, 0},
     "80GiB",
     1935,
     45,
     300,
     0,
     4,
     "NVIDIA A100 data sheet; idle estimated",
     CONFIDENCE_M},
    {"H100-PCIE-80GB",
     PRECISION_BF16,
     {51, 378, 756, 756, 1513},
     "80GiB",
     2000,
     50,
     350,
     0,
     5,
     "NVIDIA H100 data sheet; idle estimated",
     CONFIDENCE_M},
    {"H100-SXM5-80GB",
     PRECISION_BF16,
     {67, 494.5, 989, 989, 1979},
     "80GiB",
     3350,
     70,
     700,
     4,
     5,
     "MLE; idle estimated",
     CONFIDENCE_H},
    {"H200-SXM5-141GB",
     PRECISION_BF16,
     {67, 494.5, 989, 989, 1979},
     "141GiB",
     4800,
     74,
     700,
     4,
     5,
     "MLE; idle 73.65 W measured over rented nodes",
     CONFIDENCE_H},
    {"GH200-96GB",
     PRECISION_BF16,
     {67, 494.5, 989, 989, 1979},
     "96GiB",
     4000,
     0,
     0,
     4,
     5,
     "MLE; power depends on the module's 450 to 1000 W cap",
     CONFIDENCE_H},
    {"B200-180GB",
     PRECISION_BF16,
     {80, 1125, 2250, 2250, 4500},
     "180GiB",
     8000,
     0,
     0,
     5,
     5,
     "MLE; TDP 1000 W, idle not published",
     CONFIDENCE_H},
    {"GB200-186GB",
     PRECISION_BF16,
     {80, 1250, 2500, 2500, 5000},
     "186GiB",
     8000,
     0,
     0,
     5,
     5,
     "MLE; TDP 1200 W, idle not published",
     CONFIDENCE_H},
    {"GB300-279GB",
     PRECISION_BF16,
     {80, 1250, 2500, 2500, 5000},
     "279GiB",
     8000,
     0,
     0,
     5,
     6,
     "NVIDIA, GB300 NVL72: 288 GB of HBM3e at 8 TB/s, dense peaks as the GB200's but for fp4; idle not published",
     CONFIDENCE_M},
    {"MI250X-GCD",
     PRECISION_BF16,
     {23.9, 0, 191.5, 191.5, 0},
     "64GiB",
     1600,
     45,
     250,
     0,
     4,
     "MLE and OLCF, half of a module; idle estimated",
     CONFIDENCE_H},
    {"MI300X",
     PRECISION_BF16,
     {163.4, 653.7, 1307, 1307, 2615},
     "192GiB",
     5300,
     140,
     750,
     0,
     5,
     "MLE; idle estimated",
     CONFIDENCE_H},
    {"MI50",
     PRECISION_FP16,
     {13.3, 0, 26.5, 0, 0},
     "16GiB",
     1024,
     20,
     300,
     0,
     4,
     "AMD data sheet; idle estimated",
     CONFIDENCE_M},
    {"MI300A",
     PRECISION_BF16,
     {122.6, 490.3, 980.6, 980.6, 1961.2},
     "128GiB",
     5300,
     120,
     550,
     0,
     5,
     "AMD data sheet: 228 of the MI300X's 304 compute units, 128 GB; idle estimated",
     CONFIDENCE_M},
    {"MI325X",
     PRECISION_BF16,
     {163.4, 653.7, 1307, 1307, 2615},
     "256GiB",
     6000,
     140,
     1000,
     0,
     5,
     "MLE; idle as MI300X, estimated",
     CONFIDENCE_M},
    {"MI355X",
     PRECISION_BF16,
     {157.3, 0, 2300, 2300, 4600},
     "288GiB",
     8000,
     140,
     1400,
     0,
     5,
     "MLE; fp32 AMD data sheet; idle as MI300X, estimated",
     CONFIDENCE_M},
    {"PVC-1550",
     PRECISION_BF16,
     {45.9, 419, 839, 839, 0},
     "128GiB",
     3277,
     150,
     600,
     0,
     5,
     "Intel Data Center GPU Max 1550 data sheet; idle estimated",
     CONFIDENCE_M},
    {"TPU-v3",
     PRECISION_BF16,
     {0, 0, 0, 123, 0},
     "32GiB",
     900,
     0,
     0,
     0,
     0,
     "TPU v4 paper (SB says 140 Tf); power 220 W mean, idle not published",
     CONFIDENCE_M},
    {"TPU-v4",
     PRECISION_BF16,
     {0, 0, 0, 275, 0},
     "32GiB",
     1200,
     90,
     192,
     0,
     0,
     "peak and memory MLE and SB; power TPU v4 paper (90 W min, 192 W max)",
     CONFIDENCE_H},
    {"IPU-GC200",
     PRECISION_FP16,
     {62.4, 0, 250, 0, 0},
     "900MB",
     45000,
     0,
     0,
     0,
     0,
     "GC: a quarter of the machine (0.999 Pf fp16, 3.6 GB, 180 TB/s)",
     CONFIDENCE_H},
    {"IPU-Bow",
     PRECISION_FP16,
     {87.5, 0, 350, 0, 0},
     "900MB",
     65400,
     0,
     0,
     0,
     0,
     "Bow-2000 data sheet (docs.graphcore.ai): a quarter of 1.4 Pf fp16, 3.6 GB; fp32 from Bow Pod256's 22.31 Pf; "
     "memory "
     "rate of 65.4 TB/s recalled",
     CONFIDENCE_H},
    {"Gaudi2",
     PRECISION_BF16,
     {0, 0, 0, 432, 0},
     "96GiB",
     2450,
     0,
     600,
     0,
     0,
     "Habana's Gaudi2 pages: 96 GB, 2.45 TB/s, 600 W; dense peak of the matrix engines from secondary sources",
     CONFIDENCE_M},
    {"Ascend-910",
     PRECISION_FP16,
     {0, 0, 256, 0, 0},
     "32GiB",
     1200,
     0,
     310,
     0,
     0,
     "Huawei's announcement of 2019: 256 Tf fp16, 310 W; memory of 32 GB at 1.2 TB/s recalled",
     CONFIDENCE_M},
    {"WSE-2",
     PRECISION_FP16,
     {0, 0, 7500, 0, 0},
     "40GB",
     20000000,
     0,
     0,
     0,
     0,
     "memory and its 20 PB/s from the press; the dense peak is derived (75000 is claimed with sparsity)",
     CONFIDENCE_L},
    {"study",
     PRECISION_FP32,
     {1, 0, 0, 0, 0},
     NULL,
     0,
     0,
     0,
     0,
     0,
     "no product: a host of 1 Tflop/s for studies",
     CONFIDENCE_H},
};

#define MODEL_COUNT (sizeof models / sizeof *models)

struct stagesim_device device_of_host(const struct platform_host *host)
{
    struct stagesim_device device = {.model = host->model,
                                     .speed = platform_full_speed(host),
                                     .memory = host->memory,
                                     .memory_bandwidth = host->memory_bandwidth};
    memcpy(device.peak, host->peak, sizeof device.peak);
    return device;
}

const struct device_model *device_find(const char *name)
{
    for (size_t i = 0; i < MODEL_COUNT; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}

/* A product name holds all of `words`; variants of one product are told apart by their least memory. Rows with more
 * words and more memory come first. */
struct product {
    const char *words[3];
    double least_gib;
    const char *model;
};

static const struct product products[] = {
    {{"GB300"}, 0, "GB300-279GB"},
    {{"GB200"}, 0, "GB200-186GB"},
    {{"GH200"}, 0, "GH200-96GB"},
    {{"B200"}, 0, "B200-180GB"},
    {{"H200"}, 0, "H200-SXM5-141GB"},
    {{"H100", "PCIe"}, 0, "H100-PCIE-80GB"},
    {{"H100"}, 0, "H100-SXM5-80GB"},
    {{"A100", "SXM"}, 60, "A100-SXM4-80GB"},
    {{"A100", "SXM", "80GB"}, 0, "A100-SXM4-80GB"},
    {{"A100", "SXM"}, 0, "A100-SXM4-40GB"},
    {{"A100"}, 60, "A100-PCIE-80GB"},
    {{"A100", "80GB"}, 0, "A100-PCIE-80GB"},
    {{"A100"}, 0, "A100-PCIE-40GB"},
    {{"A10"}, 0, "A10"},
    {{"V100", "SXM3"}, 0, "V100-SXM3-32GB"},
    {{"V100", "SXM2"}, 24, "V100-SXM2-32GB"},
    {{"V100", "SXM2", "32GB"}, 0, "V100-SXM2-32GB"},
    {{"V100", "SXM2"}, 0, "V100-SXM2-16GB"},
    {{"V100", "PCIE"}, 24, "V100-PCIE-32GB"},
    {{"V100", "PCIE", "32GB"}, 0, "V100-PCIE-32GB"},
    {{"V100", "PCIE"}, 0, "V100-PCIE-16GB"},
    {{"K80"}, 0, "K80-12GB"},
    {{"P100", "SXM2"}, 0, "P100-SXM2-16GB"},
    {{"P100"}, 0, "P100-PCIE-16GB"},
    {{"T4"}, 0, "T4"},
    {{"MI250"}, 0, "MI250X-GCD"},
    {{"MI300X"}, 0, "MI300X"},
    {{"MI300A"}, 0, "MI300A"},
    {{"MI325X"}, 0, "MI325X"},
    {{"MI355X"}, 0, "MI355X"},
    {{"MI50"}, 0, "MI50"},
    {{"Max", "1550"}, 0, "PVC-1550"},
    {{"Ponte Vecchio"}, 0, "PVC-1550"},
};

static bool product_fits(const struct product *product, const char *name, double memory_bytes)
{
    const char *found = strcasestr(name, product->words[0]);
    if (!found || isdigit((unsigned char)found[strlen(product->words[0])])) /* T400 is no T4 */
        return false;
    for (unsigned i = 1; i < 3 && product->words[i]; i++)
        if (!strcasestr(name, product->words[i]))
            return false;
    return memory_bytes / 1073741824.0 >= product->least_gib;
}

const struct device_model *device_match(const char *product, double memory_bytes)
{
    for (size_t i = 0; product && i < sizeof products / sizeof *products; i++)
        if (product_fits(&products[i], product, memory_bytes))
            return device_find(products[i].model);
    return NULL;
}

const struct device_model *device_of_capability(unsigned capability, bool nvlink)
{
    static const struct {
        unsigned capability;
        const char *board, *card; /* with NVLink, without */
    } rows[] = {{60, "P100-SXM2-16GB", "P100-PCIE-16GB"},
                {70, "V100-SXM2-16GB", "V100-PCIE-16GB"},
                {75, "T4", "T4"},
                {80, "A100-SXM4-40GB", "A100-PCIE-40GB"},
                {86, "A10", "A10"},
                {90, "H100-SXM5-80GB", "H100-PCIE-80GB"},
                {100, "B200-180GB", "B200-180GB"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].capability == capability)
            return device_find(nvlink ? rows[i].board : rows[i].card);
    return NULL;
}

/* PCI ids as NVIDIA's drivers report them; the PCI ID repository lists them. AMD's are chip ids of
 * ROCm/rocprofiler-compute, src/utils/mi_gpu_spec.yaml, physical and virtual; that of MI50 is recalled. Intel's are of
 * intel/compute-runtime, shared/source/dll/devices. */
const struct device_model *device_of_pci(unsigned vendor, unsigned device)
{
    static const struct {
        unsigned vendor, device;
        const char *model;
    } rows[] = {{0x10de, 0x102d, "K80-12GB"},
                {0x10de, 0x15f8, "P100-PCIE-16GB"},
                {0x10de, 0x15f9, "P100-SXM2-16GB"},
                {0x10de, 0x1db1, "V100-SXM2-16GB"},
                {0x10de, 0x1db4, "V100-PCIE-16GB"},
                {0x10de, 0x1db5, "V100-SXM2-32GB"},
                {0x10de, 0x1db6, "V100-PCIE-32GB"},
                {0x10de, 0x1db8, "V100-SXM3-32GB"},
                {0x10de, 0x1eb8, "T4"},
                {0x10de, 0x2236, "A10"},
                {0x10de, 0x20b0, "A100-SXM4-40GB"},
                {0x10de, 0x20b2, "A100-SXM4-80GB"},
                {0x10de, 0x20b5, "A100-PCIE-80GB"},
                {0x10de, 0x20f1, "A100-PCIE-40GB"},
                {0x10de, 0x2330, "H100-SXM5-80GB"},
                {0x10de, 0x2331, "H100-PCIE-80GB"},
                {0x10de, 0x2335, "H200-SXM5-141GB"},
                {0x10de, 0x2342, "GH200-96GB"},
                {0x10de, 0x2901, "B200-180GB"},
                {0x1002, 0x7408, "MI250X-GCD"},
                {0x1002, 0x740c, "MI250X-GCD"},
                {0x1002, 0x66a1, "MI50"},
                {0x1002, 0x74a0, "MI300A"},
                {0x1002, 0x74b4, "MI300A"},
                {0x1002, 0x74a1, "MI300X"},
                {0x1002, 0x74b5, "MI300X"},
                {0x1002, 0x74a5, "MI325X"},
                {0x1002, 0x74b9, "MI325X"},
                {0x1002, 0x75a3, "MI355X"},
                {0x1002, 0x75b3, "MI355X"},
                {0x8086, 0x0bd5, "PVC-1550"},
                {0x8086, 0x0bd6, "PVC-1550"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].vendor == vendor && rows[i].device == device)
            return device_find(rows[i].model);
    return NULL;
}

unsigned nvlink_count(unsigned generation)
{
    static const unsigned counts[] = {0, 4, 6, 12, 18, 18};
    return generation < sizeof counts / sizeof *counts ? counts[generation] : 0;
}

/* NVIDIA/nccl src/graph/topo.h for the effective rates. */
double nvlink_raw(unsigned generation)
{
    static const double raw[] = {0, 20, 25, 25, 25, 50};
    return generation < sizeof raw / sizeof *raw ? raw[generation] : 0;
}

double nvlink_effective(unsigned generation)
{
    static const double effective[] = {0, 18, 20, 20, 20.6, 40.1};
    return generation < sizeof effective / sizeof *effective ? effective[generation] : 0;
}

double pcie_raw(unsigned generation)
{
    static const double raw[] = {0, 4, 8, 15.75, 31.51, 63.02, 121};
    return generation < sizeof raw / sizeof *raw ? raw[generation] : 0;
}

const char *precision_name(enum precision precision)
{
    static const char *const names[PRECISIONS] = {"fp32", "tf32", "fp16", "bf16", "fp8"};
    return names[precision];
}

char confidence_letter(enum confidence confidence)
{
    return "HML"[confidence];
}
