/* An aggregate that multiplies one ciphertext a row by GMP: the method of functions that users write
 * for PostgreSQL, at its best. Its state is an integer of GMP; it checks nothing but lengths.
 * gmp_sum(ciphertext, bytea): values of the extension's type, of which it skips the description, and
 * the modulus n^2, big-endian. */
#include <gmp.h>

#include "postgres.h"

#include "fmgr.h"

PG_MODULE_MAGIC;

#define DESCRIPTION_BYTES 52

typedef struct {
    mpz_t product, row, square;
} state;

PG_FUNCTION_INFO_V1(gmp_step);
Datum gmp_step(PG_FUNCTION_ARGS) {
    MemoryContext memory;
    state *sum = PG_ARGISNULL(0) ? NULL : (state *)PG_GETARG_POINTER(0);
    bytea *value;
    if (!AggCheckCallContext(fcinfo, &memory)) elog(ERROR, "gmp_step is for an aggregate");
    if (sum == NULL) {
        bytea *square = PG_GETARG_BYTEA_PP(2);
        sum = MemoryContextAlloc(memory, sizeof(state));
        mpz_init_set_ui(sum->product, 1);
        mpz_init(sum->row);
        mpz_init(sum->square);
        mpz_import(sum->square, VARSIZE_ANY_EXHDR(square), 1, 1, 0, 0, VARDATA_ANY(square));
    }
    value = PG_GETARG_BYTEA_PP(1);
    if (VARSIZE_ANY_EXHDR(value) <= DESCRIPTION_BYTES) elog(ERROR, "a value is too short");
    mpz_import(sum->row, VARSIZE_ANY_EXHDR(value) - DESCRIPTION_BYTES, 1, 1, 0, 0, VARDATA_ANY(value) + DESCRIPTION_BYTES);
    mpz_mul(sum->product, sum->product, sum->row);
    mpz_mod(sum->product, sum->product, sum->square);
    PG_RETURN_POINTER(sum);
}

PG_FUNCTION_INFO_V1(gmp_final);
Datum gmp_final(PG_FUNCTION_ARGS) {
    state *sum;
    size_t size;
    bytea *result;
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    sum = (state *)PG_GETARG_POINTER(0);
    size = (mpz_sizeinbase(sum->product, 2) + 7) / 8;
    result = palloc(VARHDRSZ + size);
    SET_VARSIZE(result, VARHDRSZ + size);
    mpz_export(VARDATA(result), NULL, 1, 1, 0, 0, sum->product);
    PG_RETURN_BYTEA_P(result);
}
