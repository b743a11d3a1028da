/* What GCC calls at each branch and comparison of kernels, handed on to libFuzzer, which knows what Clang calls instead.

   Loaded before all else: AddressSanitizer of GCC has functions of the same names, which do nothing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define N_COUNTERS 32768

static uint8_t counters[N_COUNTERS];
static uintptr_t places[2 * N_COUNTERS];    /* of each counter an address and a flag */
static int registered = 0;

static void* of_fuzzer(const char* name) {
    void* fuzzer = dlopen(getenv("SKLEARN_RANK_FUZZER"), RTLD_NOW | RTLD_NOLOAD);
    return fuzzer ? dlsym(fuzzer, name) : NULL;
}

#define HAND_ON(NAME, A, B)                                                         \
    void NAME(A a, B b) {                                                           \
        static void (*hand_on)(A, B) = NULL;                                        \
        if (!hand_on) hand_on = (void (*)(A, B)) of_fuzzer(#NAME);                  \
        if (hand_on) hand_on(a, b);                                                 \
    }
HAND_ON(__sanitizer_cov_8bit_counters_init, uint8_t*, uint8_t*)
HAND_ON(__sanitizer_cov_pcs_init, uintptr_t*, uintptr_t*)
HAND_ON(__sanitizer_cov_trace_cmp1, uint8_t, uint8_t)
HAND_ON(__sanitizer_cov_trace_cmp2, uint16_t, uint16_t)
HAND_ON(__sanitizer_cov_trace_cmp4, uint32_t, uint32_t)
HAND_ON(__sanitizer_cov_trace_cmp8, uint64_t, uint64_t)
HAND_ON(__sanitizer_cov_trace_const_cmp1, uint8_t, uint8_t)
HAND_ON(__sanitizer_cov_trace_const_cmp2, uint16_t, uint16_t)
HAND_ON(__sanitizer_cov_trace_const_cmp4, uint32_t, uint32_t)
HAND_ON(__sanitizer_cov_trace_const_cmp8, uint64_t, uint64_t)
HAND_ON(__sanitizer_cov_trace_switch, uint64_t, void*)
void __sanitizer_cov_trace_cmpf(float a, float b) {}
void __sanitizer_cov_trace_cmpd(double a, double b) {}

void __sanitizer_cov_trace_pc(void) {
    uintptr_t here = (uintptr_t) __builtin_return_address(0);
    uint8_t* counter = &counters[(uint32_t) (here * 2654435769u) >> 17];
    *counter += *counter < 255;
    if (!registered) {
        registered = 1;
        for (int i = 0; i < N_COUNTERS; i++) places[2 * i] = (uintptr_t) &counters[i];
        __sanitizer_cov_8bit_counters_init(counters, counters + N_COUNTERS);
        __sanitizer_cov_pcs_init(places, places + 2 * N_COUNTERS);
    }
}
