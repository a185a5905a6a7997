-- Encrypted numbers as a type, and what can be computed with them.
\echo Use "CREATE EXTENSION hearith" to load this file. \quit

-- Public keys. Everybody may read them; he_load_key adds them for those who may write here.
CREATE SCHEMA hearith;
GRANT USAGE ON SCHEMA hearith TO PUBLIC;

-- Raises an error at a private key, whoever writes it: by hand, by a restore, by replication.
CREATE FUNCTION hearith.is_not_private(key text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'hearith_is_not_private' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

CREATE TABLE hearith.keys (
    id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{32}$'),
    key text NOT NULL CHECK (hearith.is_not_private(key)),
    added timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT ON hearith.keys TO PUBLIC;
COMMENT ON TABLE hearith.keys IS 'public keys of encrypted numbers, as JSON Web Keys';
SELECT pg_catalog.pg_extension_config_dump('hearith.keys', '');

CREATE FUNCTION hearith.keys_changed() RETURNS trigger
    AS 'MODULE_PATHNAME', 'hearith_keys_changed' LANGUAGE C;
-- Replication brings rows without statements, and truncations without rows.
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON hearith.keys
    FOR EACH ROW EXECUTE FUNCTION hearith.keys_changed();
CREATE TRIGGER emptied AFTER TRUNCATE ON hearith.keys
    FOR EACH STATEMENT EXECUTE FUNCTION hearith.keys_changed();
ALTER TABLE hearith.keys ENABLE ALWAYS TRIGGER changed;
ALTER TABLE hearith.keys ENABLE ALWAYS TRIGGER emptied;

CREATE FUNCTION hearith.read_key(key text) RETURNS text
    AS 'MODULE_PATHNAME', 'hearith_read_key' LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION hearith.read_key IS 'checks a public key and returns its id';

-- The type.
CREATE TYPE ciphertext;
CREATE FUNCTION ciphertext_in(cstring) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_in' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION ciphertext_out(ciphertext) RETURNS cstring
    AS 'MODULE_PATHNAME', 'hearith_out' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION ciphertext_recv(internal) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_recv' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION ciphertext_send(ciphertext) RETURNS bytea
    AS 'MODULE_PATHNAME', 'hearith_send' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
-- Ciphertexts look random: compressing them is in vain.
CREATE TYPE ciphertext (
    INPUT = ciphertext_in, OUTPUT = ciphertext_out, RECEIVE = ciphertext_recv, SEND = ciphertext_send,
    INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external
);
COMMENT ON TYPE ciphertext IS 'a number under a public key, with its scale, range, headroom and additions';

CREATE FUNCTION ciphertext(bytea) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_from_bytea' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bytea(ciphertext) RETURNS bytea
    AS 'MODULE_PATHNAME', 'hearith_to_bytea' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
CREATE CAST (bytea AS ciphertext) WITH FUNCTION ciphertext(bytea);
CREATE CAST (ciphertext AS bytea) WITH FUNCTION bytea(ciphertext);

-- What a value says of itself.
CREATE FUNCTION he_key_id(ciphertext) RETURNS text
    AS 'MODULE_PATHNAME', 'hearith_key_id' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION he_key_id IS 'id of the key that the value names';
CREATE FUNCTION he_scale(ciphertext) RETURNS integer
    AS 'MODULE_PATHNAME', 'hearith_scale' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION he_scale IS 'fractional decimal digits';
CREATE FUNCTION he_additions(ciphertext) RETURNS numeric
    AS 'MODULE_PATHNAME', 'hearith_additions' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION he_additions IS 'additions that made the value, as the value states';
CREATE FUNCTION he_headroom(ciphertext) RETURNS numeric
    AS 'MODULE_PATHNAME', 'hearith_headroom' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION he_headroom IS 'additions that there is headroom for';

-- Keys.
CREATE FUNCTION he_load_key(key text) RETURNS text LANGUAGE sql VOLATILE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
        INSERT INTO hearith.keys (id, key) VALUES (hearith.read_key(he_load_key.key), he_load_key.key)
        ON CONFLICT (id) DO UPDATE SET key = excluded.key RETURNING id
    $$;
COMMENT ON FUNCTION he_load_key IS 'adds a public key, given as JSON; returns its id';
CREATE FUNCTION he_unload_key(id text) RETURNS text LANGUAGE sql VOLATILE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$ DELETE FROM hearith.keys k WHERE k.id = he_unload_key.id RETURNING k.id $$;
COMMENT ON FUNCTION he_unload_key IS 'removes a key; returns NULL if there was none';

-- Functions that need a key are STABLE: the key is read from a table.
CREATE FUNCTION he_add(ciphertext, ciphertext) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_add' LANGUAGE C STRICT STABLE PARALLEL SAFE COST 100;
-- For each integer type: PostgreSQL would not choose between bigint and numeric.
CREATE FUNCTION he_add(ciphertext, smallint) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_add_smallint' LANGUAGE C STRICT STABLE PARALLEL SAFE COST 100;
CREATE FUNCTION he_add(ciphertext, integer) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_add_integer' LANGUAGE C STRICT STABLE PARALLEL SAFE COST 100;
CREATE FUNCTION he_add(ciphertext, bigint) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_add_bigint' LANGUAGE C STRICT STABLE PARALLEL SAFE COST 100;
CREATE FUNCTION he_add(ciphertext, numeric) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_add_numeric' LANGUAGE C STRICT STABLE PARALLEL SAFE COST 100;
CREATE FUNCTION he_subtract(ciphertext, ciphertext) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_subtract' LANGUAGE C STRICT STABLE PARALLEL SAFE COST 1000;
CREATE FUNCTION he_negate(ciphertext) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_negate' LANGUAGE C STRICT STABLE PARALLEL SAFE COST 1000;
CREATE FUNCTION he_multiply(ciphertext, smallint) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_multiply_smallint' LANGUAGE C STRICT STABLE PARALLEL SAFE COST 1000;
CREATE FUNCTION he_multiply(ciphertext, integer) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_multiply_integer' LANGUAGE C STRICT STABLE PARALLEL SAFE COST 1500;
CREATE FUNCTION he_multiply(ciphertext, bigint) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_multiply_bigint' LANGUAGE C STRICT STABLE PARALLEL SAFE COST 2000;
CREATE FUNCTION he_multiply(ciphertext, numeric) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_multiply_numeric' LANGUAGE C STRICT STABLE PARALLEL SAFE COST 4000;
CREATE FUNCTION he_multiply(smallint, ciphertext) RETURNS ciphertext
    LANGUAGE sql STRICT STABLE PARALLEL SAFE AS $$ SELECT @extschema@.he_multiply($2, $1) $$;
CREATE FUNCTION he_multiply(integer, ciphertext) RETURNS ciphertext
    LANGUAGE sql STRICT STABLE PARALLEL SAFE AS $$ SELECT @extschema@.he_multiply($2, $1) $$;
CREATE FUNCTION he_multiply(bigint, ciphertext) RETURNS ciphertext
    LANGUAGE sql STRICT STABLE PARALLEL SAFE AS $$ SELECT @extschema@.he_multiply($2, $1) $$;
CREATE FUNCTION he_multiply(numeric, ciphertext) RETURNS ciphertext
    LANGUAGE sql STRICT STABLE PARALLEL SAFE AS $$ SELECT @extschema@.he_multiply($2, $1) $$;
-- The short names that DuckDB has too.
CREATE FUNCTION he_mul(ciphertext, smallint) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_multiply_smallint' LANGUAGE C STRICT STABLE PARALLEL SAFE COST 1000;
CREATE FUNCTION he_mul(ciphertext, integer) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_multiply_integer' LANGUAGE C STRICT STABLE PARALLEL SAFE COST 1500;
CREATE FUNCTION he_mul(ciphertext, bigint) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_multiply_bigint' LANGUAGE C STRICT STABLE PARALLEL SAFE COST 2000;
CREATE FUNCTION he_mul(ciphertext, numeric) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_multiply_numeric' LANGUAGE C STRICT STABLE PARALLEL SAFE COST 4000;
CREATE FUNCTION he_mul(smallint, ciphertext) RETURNS ciphertext
    LANGUAGE sql STRICT STABLE PARALLEL SAFE AS $$ SELECT @extschema@.he_multiply($2, $1) $$;
CREATE FUNCTION he_mul(integer, ciphertext) RETURNS ciphertext
    LANGUAGE sql STRICT STABLE PARALLEL SAFE AS $$ SELECT @extschema@.he_multiply($2, $1) $$;
CREATE FUNCTION he_mul(bigint, ciphertext) RETURNS ciphertext
    LANGUAGE sql STRICT STABLE PARALLEL SAFE AS $$ SELECT @extschema@.he_multiply($2, $1) $$;
CREATE FUNCTION he_mul(numeric, ciphertext) RETURNS ciphertext
    LANGUAGE sql STRICT STABLE PARALLEL SAFE AS $$ SELECT @extschema@.he_multiply($2, $1) $$;
-- Fresh randomness each time: a plan may not keep the result.
CREATE FUNCTION he_rerandomise(ciphertext) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_rerandomise' LANGUAGE C STRICT VOLATILE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION he_rerandomise IS 'another ciphertext of the same number, which nobody can link to this one';
CREATE FUNCTION he_rerandomize(ciphertext) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_rerandomise' LANGUAGE C STRICT VOLATILE PARALLEL SAFE COST 10000;

CREATE OPERATOR + (LEFTARG = ciphertext, RIGHTARG = ciphertext, FUNCTION = he_add, COMMUTATOR = +);
CREATE OPERATOR + (LEFTARG = ciphertext, RIGHTARG = smallint, FUNCTION = he_add);
CREATE OPERATOR + (LEFTARG = ciphertext, RIGHTARG = integer, FUNCTION = he_add);
CREATE OPERATOR + (LEFTARG = ciphertext, RIGHTARG = bigint, FUNCTION = he_add);
CREATE OPERATOR + (LEFTARG = ciphertext, RIGHTARG = numeric, FUNCTION = he_add);
CREATE OPERATOR - (LEFTARG = ciphertext, RIGHTARG = ciphertext, FUNCTION = he_subtract);
CREATE OPERATOR - (RIGHTARG = ciphertext, FUNCTION = he_negate);
CREATE OPERATOR * (LEFTARG = ciphertext, RIGHTARG = smallint, FUNCTION = he_multiply, COMMUTATOR = *);
CREATE OPERATOR * (LEFTARG = smallint, RIGHTARG = ciphertext, FUNCTION = he_multiply, COMMUTATOR = *);
CREATE OPERATOR * (LEFTARG = ciphertext, RIGHTARG = integer, FUNCTION = he_multiply, COMMUTATOR = *);
CREATE OPERATOR * (LEFTARG = integer, RIGHTARG = ciphertext, FUNCTION = he_multiply, COMMUTATOR = *);
CREATE OPERATOR * (LEFTARG = ciphertext, RIGHTARG = bigint, FUNCTION = he_multiply, COMMUTATOR = *);
CREATE OPERATOR * (LEFTARG = bigint, RIGHTARG = ciphertext, FUNCTION = he_multiply, COMMUTATOR = *);
CREATE OPERATOR * (LEFTARG = ciphertext, RIGHTARG = numeric, FUNCTION = he_multiply, COMMUTATOR = *);
CREATE OPERATOR * (LEFTARG = numeric, RIGHTARG = ciphertext, FUNCTION = he_multiply, COMMUTATOR = *);

-- Aggregates.
CREATE FUNCTION hearith.sum_step(internal, ciphertext) RETURNS internal
    AS 'MODULE_PATHNAME', 'hearith_sum_step' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION hearith.sum_step(internal, ciphertext, integer) RETURNS internal
    AS 'MODULE_PATHNAME', 'hearith_sum_step' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION hearith.sum_remove(internal, ciphertext) RETURNS internal
    AS 'MODULE_PATHNAME', 'hearith_sum_remove' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION hearith.sum_remove(internal, ciphertext, integer) RETURNS internal
    AS 'MODULE_PATHNAME', 'hearith_sum_remove' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION hearith.sum_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'hearith_sum_combine' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION hearith.sum_serialise(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'hearith_sum_serialise' LANGUAGE C STRICT STABLE PARALLEL SAFE;
CREATE FUNCTION hearith.sum_deserialise(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'hearith_sum_deserialise' LANGUAGE C STRICT STABLE PARALLEL SAFE;
CREATE FUNCTION hearith.sum_final(internal) RETURNS ciphertext
    AS 'MODULE_PATHNAME', 'hearith_sum_final' LANGUAGE C STABLE PARALLEL SAFE;
CREATE TYPE encrypted_mean AS (sum ciphertext, count bigint);
COMMENT ON TYPE encrypted_mean IS 'a mean: the sum of the values and their count, to be divided after decryption';
CREATE FUNCTION hearith.mean_final(internal) RETURNS encrypted_mean
    AS 'MODULE_PATHNAME', 'hearith_mean_final' LANGUAGE C STABLE PARALLEL SAFE;

CREATE AGGREGATE sum(ciphertext) (
    SFUNC = hearith.sum_step, STYPE = internal, SSPACE = 34000, FINALFUNC = hearith.sum_final,
    COMBINEFUNC = hearith.sum_combine, SERIALFUNC = hearith.sum_serialise,
    DESERIALFUNC = hearith.sum_deserialise, PARALLEL = SAFE,
    MSFUNC = hearith.sum_step, MINVFUNC = hearith.sum_remove, MSTYPE = internal, MSSPACE = 68000,
    MFINALFUNC = hearith.sum_final
);
CREATE AGGREGATE he_sum(ciphertext) (
    SFUNC = hearith.sum_step, STYPE = internal, SSPACE = 34000, FINALFUNC = hearith.sum_final,
    COMBINEFUNC = hearith.sum_combine, SERIALFUNC = hearith.sum_serialise,
    DESERIALFUNC = hearith.sum_deserialise, PARALLEL = SAFE,
    MSFUNC = hearith.sum_step, MINVFUNC = hearith.sum_remove, MSTYPE = internal, MSSPACE = 68000,
    MFINALFUNC = hearith.sum_final
);
CREATE AGGREGATE he_sum(ciphertext, min_rows integer) (
    SFUNC = hearith.sum_step, STYPE = internal, SSPACE = 34000, FINALFUNC = hearith.sum_final,
    COMBINEFUNC = hearith.sum_combine, SERIALFUNC = hearith.sum_serialise,
    DESERIALFUNC = hearith.sum_deserialise, PARALLEL = SAFE,
    MSFUNC = hearith.sum_step, MINVFUNC = hearith.sum_remove, MSTYPE = internal, MSSPACE = 68000,
    MFINALFUNC = hearith.sum_final
);
CREATE AGGREGATE avg(ciphertext) (
    SFUNC = hearith.sum_step, STYPE = internal, SSPACE = 34000, FINALFUNC = hearith.mean_final,
    COMBINEFUNC = hearith.sum_combine, SERIALFUNC = hearith.sum_serialise,
    DESERIALFUNC = hearith.sum_deserialise, PARALLEL = SAFE,
    MSFUNC = hearith.sum_step, MINVFUNC = hearith.sum_remove, MSTYPE = internal, MSSPACE = 68000,
    MFINALFUNC = hearith.mean_final
);
CREATE AGGREGATE he_avg(ciphertext) (
    SFUNC = hearith.sum_step, STYPE = internal, SSPACE = 34000, FINALFUNC = hearith.mean_final,
    COMBINEFUNC = hearith.sum_combine, SERIALFUNC = hearith.sum_serialise,
    DESERIALFUNC = hearith.sum_deserialise, PARALLEL = SAFE,
    MSFUNC = hearith.sum_step, MINVFUNC = hearith.sum_remove, MSTYPE = internal, MSSPACE = 68000,
    MFINALFUNC = hearith.mean_final
);
CREATE AGGREGATE he_avg(ciphertext, min_rows integer) (
    SFUNC = hearith.sum_step, STYPE = internal, SSPACE = 34000, FINALFUNC = hearith.mean_final,
    COMBINEFUNC = hearith.sum_combine, SERIALFUNC = hearith.sum_serialise,
    DESERIALFUNC = hearith.sum_deserialise, PARALLEL = SAFE,
    MSFUNC = hearith.sum_step, MINVFUNC = hearith.sum_remove, MSTYPE = internal, MSSPACE = 68000,
    MFINALFUNC = hearith.mean_final
);
CREATE AGGREGATE he_mean(ciphertext) (
    SFUNC = hearith.sum_step, STYPE = internal, SSPACE = 34000, FINALFUNC = hearith.mean_final,
    COMBINEFUNC = hearith.sum_combine, SERIALFUNC = hearith.sum_serialise,
    DESERIALFUNC = hearith.sum_deserialise, PARALLEL = SAFE,
    MSFUNC = hearith.sum_step, MINVFUNC = hearith.sum_remove, MSTYPE = internal, MSSPACE = 68000,
    MFINALFUNC = hearith.mean_final
);
CREATE AGGREGATE he_mean(ciphertext, min_rows integer) (
    SFUNC = hearith.sum_step, STYPE = internal, SSPACE = 34000, FINALFUNC = hearith.mean_final,
    COMBINEFUNC = hearith.sum_combine, SERIALFUNC = hearith.sum_serialise,
    DESERIALFUNC = hearith.sum_deserialise, PARALLEL = SAFE,
    MSFUNC = hearith.sum_step, MINVFUNC = hearith.sum_remove, MSTYPE = internal, MSSPACE = 68000,
    MFINALFUNC = hearith.mean_final
);
COMMENT ON AGGREGATE he_sum(ciphertext, integer) IS 'the sum; NULL for fewer than min_rows values';
COMMENT ON AGGREGATE he_avg(ciphertext, integer) IS 'sum and count; NULL for fewer than min_rows values';
