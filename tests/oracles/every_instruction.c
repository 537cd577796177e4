/* Uses each extension that the compiler was told to build for; ends with 0 unless the processor refuses one. */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 64
static volatile uint64_t sink;
static float a[N], b[N], c[N];
static uint64_t words[N];
static uint8_t bytes[N] __attribute__((aligned(64)));

#define KEEP(value) (sink += (uint64_t)(value))
#define KEEP128(value) do { __m128i kept = (value); KEEP(_mm_cvtsi128_si64(kept)); } while (0)

static void loops(void) {
    for (int i = 0; i < N; i++) c[i] += a[i] * b[i];
    for (int i = 0; i < N; i++) words[i] = (words[i] >> (i & 31)) & ~words[(i + 1) % N];
    for (int i = 0; i < N; i++) KEEP(__builtin_popcountll(words[i]) + __builtin_bswap64(words[i]));
    for (int i = 0; i < N; i++) KEEP(words[i] ? __builtin_clzll(words[i]) + __builtin_ctzll(words[i]) : 0);
    for (int i = 0; i < N; i++) bytes[i] = (uint8_t)(bytes[i] * 3 + i);
    for (int i = 0; i < N; i++) KEEP(c[i]);
}

static void old(void) {
    __m128 f = _mm_loadu_ps(a);
    __m128i x = _mm_loadu_si128((const __m128i *)bytes);
    (void)f;
    KEEP128(x);
#ifdef __SSE3__
    KEEP128(_mm_castps_si128(_mm_hadd_ps(f, f)));
#endif
#ifdef __SSSE3__
    KEEP128(_mm_shuffle_epi8(x, x));
#endif
#ifdef __SSE4_1__
    KEEP128(_mm_mullo_epi32(x, x));
#endif
#ifdef __SSE4_2__
    KEEP(_mm_crc32_u64(7, 9));
    KEEP128(_mm_cmpgt_epi64(x, x));
#endif
#ifdef __POPCNT__
    KEEP(_mm_popcnt_u64(sink));
#endif
#ifdef __SSE4A__
    __asm__ volatile("extrq $4, $4, %%xmm1" ::: "xmm1");
#endif
#ifdef __AES__
    KEEP128(_mm_aesenc_si128(x, x));
#endif
#ifdef __PCLMUL__
    KEEP128(_mm_clmulepi64_si128(x, x, 1));
#endif
#ifdef __SHA__
    KEEP128(_mm_sha1msg1_epu32(x, x));
#endif
#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
    static __int128 wide __attribute__((aligned(16)));
    KEEP(__sync_bool_compare_and_swap(&wide, 0, 1));
#endif
#ifdef __LAHF_SAHF__
    __asm__ volatile("lahf\n\tsahf" ::: "rax", "cc");
#endif
}

static void vectors(void) {
#ifdef __AVX__
    KEEP(_mm256_movemask_ps(_mm256_add_ps(_mm256_loadu_ps(a), _mm256_loadu_ps(b))));
#endif
#ifdef __AVX2__
    KEEP(_mm256_movemask_epi8(_mm256_add_epi8(_mm256_loadu_si256((const __m256i *)bytes), _mm256_set1_epi8(1))));
#endif
#ifdef __FMA__
    KEEP(_mm_movemask_ps(_mm_fmadd_ps(_mm_loadu_ps(a), _mm_loadu_ps(b), _mm_loadu_ps(c))));
#endif
#ifdef __F16C__
    KEEP128(_mm_cvtps_ph(_mm_loadu_ps(a), 0));
#endif
#ifdef __FMA4__
    __asm__ volatile("vfmaddps %%xmm0, %%xmm1, %%xmm2, %%xmm3" ::: "xmm3");
#endif
#ifdef __XOP__
    __asm__ volatile("vphaddbw %%xmm0, %%xmm1" ::: "xmm1");
#endif
#ifdef __AVX512F__
    KEEP(_mm512_reduce_add_epi32(_mm512_loadu_si512(bytes)));
#endif
#ifdef __VAES__
    __asm__ volatile("vaesenc %%ymm0, %%ymm1, %%ymm2" ::: "xmm2");
#endif
#ifdef __VPCLMULQDQ__
    __asm__ volatile("vpclmulqdq $1, %%ymm0, %%ymm1, %%ymm2" ::: "xmm2");
#endif
#ifdef __GFNI__
    KEEP128(_mm_gf2p8mul_epi8(_mm_loadu_si128((const __m128i *)bytes), _mm_set1_epi8(2)));
#endif
}

static void integers(void) {
    unsigned long long out = sink;
    (void)out;
#ifdef __LZCNT__
    KEEP(_lzcnt_u64(sink));
#endif
#ifdef __BMI__
    KEEP(_blsr_u64(sink) + _tzcnt_u64(sink));
#endif
#ifdef __BMI2__
    KEEP(_pdep_u64(sink, 0xf0f0) + _bzhi_u64(sink, 7));
#endif
#ifdef __TBM__
    __asm__ volatile("blsfill %%rax, %%rcx" ::: "rcx", "cc");
#endif
#ifdef __MOVBE__
    __asm__ volatile("movbe %0, %%rax" ::"m"(words[0]) : "rax");
#endif
#ifdef __ADX__
    KEEP(_addcarryx_u64(0, sink, 1, &out));
    __asm__ volatile("adcx %%rax, %%rcx\n\tadox %%rax, %%rcx" ::: "rcx", "cc");
#endif
#ifdef __RDRND__
    KEEP(_rdrand64_step(&out));
#endif
#ifdef __RDSEED__
    KEEP(_rdseed64_step(&out));
#endif
}

static void system_parts(void) {
#ifdef __FSGSBASE__
    KEEP(_readfsbase_u64() != 0);
#endif
#ifdef __CLFLUSHOPT__
    _mm_clflushopt(bytes);
#endif
#ifdef __CLWB__
    _mm_clwb(bytes);
#endif
#ifdef __CLZERO__
    __asm__ volatile("clzero" ::"a"(bytes) : "memory");
#endif
#ifdef __PRFCHW__
    __builtin_prefetch(bytes, 1, 3);
    __asm__ volatile("prefetchw %0" ::"m"(bytes[0]));
#endif
#ifdef __RDPID__
    __asm__ volatile("rdpid %%rax" ::: "rax");
#endif
#ifdef __PKU__
    __asm__ volatile("rdpkru" ::"c"(0) : "rax", "rdx");
#endif
#ifdef __XSAVE__
    __asm__ volatile("xgetbv" ::"c"(0) : "rax", "rdx");
#endif
}

int main(void) {
    for (int i = 0; i < N; i++) a[i] = b[i] = (float)i, words[i] = (uint64_t)i * 0x9e3779b97f4a7c15u;
    loops();
    old();
    vectors();
    integers();
    system_parts();
    return sink == 42 ? 1 : 0;
}
