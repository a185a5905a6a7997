// NTL and FLINT, in a process of their own that measures itself on request: `bench/src/bin/rns.rs` writes requests to standard
// input and reads one line of answer to each. Built by `scripts/bench_rns.sh`.
//
//   load BITS COUNT PRIMES       then a line of the primes, and COUNT lines of numbers in hexadecimal -> versions
//   residues LIBRARY REPEATS     every number to its residues, so many times -> seconds
//   numbers LIBRARY REPEATS      the residues back to numbers -> seconds
//   show LIBRARY ROW             residues of a number in decimal, then the number that came back, in hexadecimal

#include <NTL/ZZ.h>
#include <NTL/version.h>
#include <flint/flint.h>
#include <flint/fmpz.h>
#include <flint/fmpz_vec.h>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

static std::vector<long> primes;

static long prime(long index) { return primes[index]; }

struct Library {
    virtual ~Library() = default;
    virtual void residues() = 0;
    virtual void numbers() = 0;
    virtual void show(size_t row) = 0;
};

// NTL's remainder of a long integer and a word, prime by prime; and the structures beneath ZZ_pX's conversions: a sum of the Chinese remainder
// theorem, reduced at the end, and a table of powers modulo the primes. That table takes primes of NTL_SP_NBITS bits only, so
// it has as many of those as there are primes.
struct Ntl : Library {
    std::vector<NTL::ZZ> in, out;
    std::vector<long> table, scaled, factors;
    std::vector<NTL::mulmod_precon_t> hints;
    NTL::ZZ product;
    NTL::ZZ_CRTStructAdapter crt;
    NTL::ZZ_TmpVecAdapter crt_space;

    explicit Ntl(const std::vector<std::string>& texts) : in(texts.size()), out(texts.size()), scaled(primes.size()) {
        for (size_t row = 0; row < texts.size(); row++) {
            for (char digit : texts[row]) {
                in[row] = in[row] * 16 + (digit <= '9' ? digit - '0' : digit - 'a' + 10);
            }
        }
        product = 1;
        for (long q : primes) product *= q;
        crt.init(long(primes.size()), product, prime);
        for (size_t i = 0; i < primes.size(); i++) {
            NTL::ZZ cofactor = product / primes[i];
            long factor = NTL::InvMod(NTL::rem(cofactor, primes[i]), primes[i]);
            factors.push_back(factor);
            hints.push_back(NTL::PrepMulModPrecon(factor, primes[i]));
            if (!crt.special()) crt.insert(long(i), cofactor);
        }
        const NTL::ZZ_CRTStructAdapter& shared = crt;
        crt_space.fetch(shared);
        table.resize(texts.size() * primes.size());
        Ntl::residues();
    }

    void residues() override {
        long* residue = table.data();
        for (const NTL::ZZ& number : in) {
            for (long q : primes) *residue++ = NTL::rem(number, q);
        }
    }

    void numbers() override {
        for (size_t row = 0; row < in.size(); row++) {
            const long* of_row = &table[row * primes.size()];
            for (size_t i = 0; i < primes.size(); i++) {
                scaled[i] = NTL::MulModPrecon(of_row[i], factors[i], primes[i], hints[i]);
            }
            crt.eval(out[row], scaled.data(), crt_space);
            NTL::rem(out[row], out[row], product);
        }
    }

    void show(size_t row) override {
        for (size_t i = 0; i < primes.size(); i++) std::cout << table[row * primes.size() + i] << ' ';
        std::string text;
        for (NTL::ZZ rest = out[row]; rest > 0; rest >>= 4) {
            text.insert(text.begin(), "0123456789abcdef"[NTL::to_long(rest % 16)]);
        }
        std::cout << (text.empty() ? "0" : text) << std::endl;
    }
};

static std::vector<long> own_primes;

static long own_prime(long index) { return own_primes[index]; }

struct NtlMultiModular : Ntl {
    std::vector<long> own_table;
    NTL::ZZ_RemStructAdapter remainders;
    NTL::ZZ_TmpVecAdapter space;

    explicit NtlMultiModular(const std::vector<std::string>& texts) : Ntl(texts) {
        own_primes.clear();
        for (long q = (1L << NTL_SP_NBITS) - 1; own_primes.size() < primes.size(); q -= 2) {
            if (NTL::ProbPrime(q)) own_primes.push_back(q);
        }
        own_table.resize(table.size());
        remainders.init(long(own_primes.size()), product, own_prime);
        space.fetch(remainders);
        NtlMultiModular::residues();
        for (size_t at = 0; at < own_table.size(); at++) {
            if (own_table[at] != NTL::rem(in[at / primes.size()], own_primes[at % primes.size()])) std::abort();
        }
    }

    void residues() override {
        for (size_t row = 0; row < in.size(); row++) remainders.eval(&own_table[row * primes.size()], in[row], space);
    }
};

// The comb of products: fmpz_multi_mod_ui and fmpz_multi_CRT_ui.
struct Flint : Library {
    size_t count;
    fmpz *in, *out;
    std::vector<mp_limb_t> moduli, table;
    fmpz_comb_t comb;
    fmpz_comb_temp_t space;

    explicit Flint(const std::vector<std::string>& texts)
        : count(texts.size()), in(_fmpz_vec_init(count)), out(_fmpz_vec_init(count)), moduli(primes.begin(), primes.end()),
          table(count * primes.size()) {
        for (size_t row = 0; row < count; row++) fmpz_set_str(in + row, texts[row].c_str(), 16);
        fmpz_comb_init(comb, moduli.data(), slong(moduli.size()));
        fmpz_comb_temp_init(space, comb);
    }

    ~Flint() override {
        fmpz_comb_temp_clear(space);
        fmpz_comb_clear(comb);
        _fmpz_vec_clear(in, slong(count));
        _fmpz_vec_clear(out, slong(count));
    }

    void residues() override {
        for (size_t row = 0; row < count; row++) {
            fmpz_multi_mod_ui(&table[row * moduli.size()], in + row, comb, space);
        }
    }

    void numbers() override {
        for (size_t row = 0; row < count; row++) {
            fmpz_multi_CRT_ui(out + row, &table[row * moduli.size()], comb, space, 0);
        }
    }

    void show(size_t row) override {
        for (size_t i = 0; i < moduli.size(); i++) std::cout << table[row * moduli.size() + i] << ' ';
        char* text = fmpz_get_str(nullptr, 16, out + row);
        std::cout << text << std::endl;
        flint_free(text);
    }
};

int main() {
    std::map<std::string, std::unique_ptr<Library>> libraries;
    std::string request, name;
    while (std::cin >> request) {
        if (request == "load") {
            size_t bits, count, moduli;
            std::cin >> bits >> count >> moduli;
            primes.resize(moduli);
            for (long& q : primes) std::cin >> q;
            std::vector<std::string> texts(count);
            for (std::string& text : texts) std::cin >> text;
            libraries["ntl-rem"] = std::make_unique<Ntl>(texts);
            libraries["ntl"] = std::make_unique<NtlMultiModular>(texts);
            libraries["flint"] = std::make_unique<Flint>(texts);
            std::cout << "NTL " << NTL_VERSION << ", FLINT " << FLINT_VERSION << ", C++ compiler " << __VERSION__ << std::endl;
            continue;
        }
        size_t number;
        std::cin >> name >> number;
        Library& library = *libraries.at(name);
        if (request == "show") {
            library.show(number);
            continue;
        }
        auto start = std::chrono::steady_clock::now();
        for (size_t repeat = 0; repeat < number; repeat++) {
            request == "residues" ? library.residues() : library.numbers();
        }
        std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        std::cout << seconds.count() << std::endl;
    }
}
