// SPDX-License-Identifier: MIT OR Apache-2.0
// Written by scripts/registers.py from rtl/registers: edit these files, then run the script.
// The registers common to all accelerators, and the parameters and regions of each system.
package accelerator_pkg;
    // The version of the register map.
    typedef enum int unsigned {Version = 3} version_e;
    // Bits of a byte address, whose upper half is the regions; bits of a word's number in its region;
    // bits of ERROR and INTERRUPT.
    typedef enum int unsigned {
        AddressBits = 17,
        RegionBits = 9,
        ErrorBits = 10,
        InterruptBits = 3
    } size_e;

    // Byte addresses in the lower half; the low word of a 64-bit register comes first.
    typedef enum logic [15:0] {
        IdentityAddress = 16'h00,
        VersionAddress = 16'h04,
        CapabilityAddress = 16'h08,
        EpochAddress = 16'h0c,
        ControlAddress = 16'h10,
        StatusAddress = 16'h14,
        ErrorAddress = 16'h18,
        InterruptEnableAddress = 16'h1c,
        InterruptAddress = 16'h20,
        InFlightAddress = 16'h24,
        KeyCheckAddress = 16'h28,
        IndexAddress = 16'h2c,
        ValueAddress = 16'h30,
        BusyAddress = 16'h40,
        AcceptedAddress = 16'h48,
        DeliveredAddress = 16'h50,
        ProductsAddress = 16'h58,
        DiscardedAddress = 16'h60,
        ParameterAddress = 16'h80
    } address_e;

    // The lowest bit of each field.
    typedef enum int unsigned {
        CapabilityRegions = 0,
        CapabilityBranches = 8,
        CapabilityTable = 16,
        CapabilityInterrupt = 17
    } capability_e;
    typedef enum int unsigned {
        ControlReady = 0,
        ControlFlush = 1,
        ControlWipe = 2
    } control_e;
    typedef enum int unsigned {
        StatusReady = 0,
        StatusBusy = 1,
        StatusClosing = 2,
        StatusError = 3
    } status_e;
    typedef enum int unsigned {
        ErrorUnknown = 0,
        ErrorUnaligned = 1,
        ErrorPartial = 2,
        ErrorReadOnly = 3,
        ErrorWriteOnly = 4,
        ErrorBeyond = 5,
        ErrorLocked = 6,
        ErrorIncomplete = 7,
        ErrorForeign = 8,
        ErrorBroken = 9
    } error_e;
    typedef enum int unsigned {
        InterruptEnableError = 0,
        InterruptEnableAnswer = 1,
        InterruptEnableIdle = 2
    } interrupt_enable_e;
    typedef enum int unsigned {
        InterruptError = 0,
        InterruptAnswer = 1,
        InterruptIdle = 2
    } interrupt_e;

    // The systems.
    typedef enum logic [31:0] {
        MesaIdentity = 32'h4d455341,
        MesaDualIdentity = 32'h4455414c,
        ResidueBankIdentity = 32'h52455342,
        CoprocIdentity = 32'h434f5052,
        DghvIdentity = 32'h44474856
    } identity_e;

    // mesa: its parameters by number, its regions by number.
    typedef enum int unsigned {
        MesaParameterN = 0,
        MesaParameterStages = 1,
        MesaParameterShape = 2,
        MesaParameterStreamBits = 3,
        MesaParameterRBits = 4,
        MesaParameterXBits = 5,
        MesaParameterInterval = 6,
        MesaParameterReserved = 7
    } mesa_parameter_e;
    typedef enum int unsigned {
        MesaPMt = 0,
        MesaPSquare = 1,
        MesaPEnter = 2,
        MesaPOne = 3,
        MesaPExponent = 4,
        MesaPPrime = 5,
        MesaPMerged = 6,
        MesaModulus = 7,
        MesaQMt = 8,
        MesaQSquare = 9,
        MesaQEnter = 10,
        MesaQOne = 11,
        MesaQExponent = 12,
        MesaQPrime = 13,
        MesaQMerged = 14,
        MesaSteps = 15
    } mesa_region_e;

    // Words of each region, 10 bits each, region 0 in the lowest bits; 0 if missing.
    function automatic logic [319:0] mesa_region_words(input int unsigned N, input int unsigned W);
        mesa_region_words = '0;
        mesa_region_words[10*0+:10] = 10'((((N + W - 1) / W * W) + 31) / 32);
        mesa_region_words[10*1+:10] = 10'((N + 31) / 32);
        mesa_region_words[10*2+:10] = 10'((N + 31) / 32);
        mesa_region_words[10*3+:10] = 10'((N + 31) / 32);
        mesa_region_words[10*4+:10] = 10'(((N / 2) + 31) / 32);
        mesa_region_words[10*5+:10] = 10'(((N / 2) + 31) / 32);
        mesa_region_words[10*6+:10] = 10'((N + 31) / 32);
        mesa_region_words[10*7+:10] = 10'((N + 31) / 32);
        mesa_region_words[10*8+:10] = 10'((((N + W - 1) / W * W) + 31) / 32);
        mesa_region_words[10*9+:10] = 10'((N + 31) / 32);
        mesa_region_words[10*10+:10] = 10'((N + 31) / 32);
        mesa_region_words[10*11+:10] = 10'((N + 31) / 32);
        mesa_region_words[10*12+:10] = 10'(((N / 2) + 31) / 32);
        mesa_region_words[10*13+:10] = 10'(((N / 2) + 31) / 32);
        mesa_region_words[10*14+:10] = 10'((N + 31) / 32);
        mesa_region_words[10*15+:10] = 10'((32 + 31) / 32);
    endfunction

    // mesa_dual: its parameters by number, its regions by number.
    typedef enum int unsigned {
        MesaDualParameterN = 0,
        MesaDualParameterLanes = 1,
        MesaDualParameterShape = 2,
        MesaDualParameterStreamBits = 3,
        MesaDualParameterRBits = 4,
        MesaDualParameterXBits = 5,
        MesaDualParameterInterval = 6,
        MesaDualParameterReserved = 7
    } mesa_dual_parameter_e;
    typedef enum int unsigned {
        MesaDualPMt = 0,
        MesaDualPExponent = 1,
        MesaDualPUnit = 2,
        MesaDualPShiftLow = 3,
        MesaDualPShiftHigh = 4,
        MesaDualPEnterLow = 5,
        MesaDualPEnterHigh = 6,
        MesaDualPOneLow = 7,
        MesaDualPOneHigh = 8,
        MesaDualPMerged = 9,
        MesaDualWindows = 14,
        MesaDualModulus = 15,
        MesaDualQMt = 16,
        MesaDualQExponent = 17,
        MesaDualQUnit = 18,
        MesaDualQShiftLow = 19,
        MesaDualQShiftHigh = 20,
        MesaDualQEnterLow = 21,
        MesaDualQEnterHigh = 22,
        MesaDualQOneLow = 23,
        MesaDualQOneHigh = 24,
        MesaDualQMerged = 25
    } mesa_dual_region_e;

    // Words of each region, 10 bits each, region 0 in the lowest bits; 0 if missing.
    function automatic logic [319:0] mesa_dual_region_words(input int unsigned N, input int unsigned W, input int unsigned D);
        mesa_dual_region_words = '0;
        mesa_dual_region_words[10*0+:10] = 10'((((N / 2 + W - 1) / W * W) + 31) / 32);
        mesa_dual_region_words[10*1+:10] = 10'(((N / 2) + 31) / 32);
        mesa_dual_region_words[10*2+:10] = 10'(((W * (D + 1)) + 31) / 32);
        mesa_dual_region_words[10*3+:10] = 10'(((N / 2) + 31) / 32);
        mesa_dual_region_words[10*4+:10] = 10'(((N / 2) + 31) / 32);
        mesa_dual_region_words[10*5+:10] = 10'(((N / 2) + 31) / 32);
        mesa_dual_region_words[10*6+:10] = 10'(((N / 2) + 31) / 32);
        mesa_dual_region_words[10*7+:10] = 10'(((N / 2) + 31) / 32);
        mesa_dual_region_words[10*8+:10] = 10'(((N / 2) + 31) / 32);
        mesa_dual_region_words[10*9+:10] = 10'((N + 31) / 32);
        mesa_dual_region_words[10*14+:10] = 10'((32 + 31) / 32);
        mesa_dual_region_words[10*15+:10] = 10'((N + 31) / 32);
        mesa_dual_region_words[10*16+:10] = 10'((((N / 2 + W - 1) / W * W) + 31) / 32);
        mesa_dual_region_words[10*17+:10] = 10'(((N / 2) + 31) / 32);
        mesa_dual_region_words[10*18+:10] = 10'(((W * (D + 1)) + 31) / 32);
        mesa_dual_region_words[10*19+:10] = 10'(((N / 2) + 31) / 32);
        mesa_dual_region_words[10*20+:10] = 10'(((N / 2) + 31) / 32);
        mesa_dual_region_words[10*21+:10] = 10'(((N / 2) + 31) / 32);
        mesa_dual_region_words[10*22+:10] = 10'(((N / 2) + 31) / 32);
        mesa_dual_region_words[10*23+:10] = 10'(((N / 2) + 31) / 32);
        mesa_dual_region_words[10*24+:10] = 10'(((N / 2) + 31) / 32);
        mesa_dual_region_words[10*25+:10] = 10'((N + 31) / 32);
    endfunction

    // residue_bank: its parameters by number, its regions by number.
    typedef enum int unsigned {
        ResidueBankParameterBits = 0,
        ResidueBankParameterCount = 1,
        ResidueBankParameterShape = 2,
        ResidueBankParameterStreamBits = 3,
        ResidueBankParameterInterval = 4,
        ResidueBankParameterLatency = 5,
        ResidueBankParameterReserved6 = 6,
        ResidueBankParameterReserved7 = 7
    } residue_bank_parameter_e;

    // coproc: its parameters by number, its regions by number.
    typedef enum int unsigned {
        CoprocParameterN = 0,
        CoprocParameterCores = 1,
        CoprocParameterShape = 2,
        CoprocParameterStreamBits = 3,
        CoprocParameterRBits = 4,
        CoprocParameterLeaveBits = 5,
        CoprocParameterMemory = 6,
        CoprocParameterInterval = 7
    } coproc_parameter_e;
    typedef enum int unsigned {
        CoprocMt = 0,
        CoprocSquare = 1,
        CoprocModulus = 2,
        CoprocLambda = 3,
        CoprocInverse = 4,
        CoprocDualMt = 5,
        CoprocUnit = 6,
        CoprocExit = 7,
        CoprocOne = 8,
        CoprocEnter = 9,
        CoprocPass = 10,
        CoprocLeave = 11,
        CoprocFactor = 12,
        CoprocShift = 13
    } coproc_region_e;

    // Words of each region, 10 bits each, region 0 in the lowest bits; 0 if missing.
    function automatic logic [319:0] coproc_region_words(input int unsigned N, input int unsigned W, input int unsigned D);
        coproc_region_words = '0;
        coproc_region_words[10*0+:10] = 10'((((2 * N + W - 1) / W * W) + 31) / 32);
        coproc_region_words[10*1+:10] = 10'(((2 * N) + 31) / 32);
        coproc_region_words[10*2+:10] = 10'((N + 31) / 32);
        coproc_region_words[10*3+:10] = 10'((N + 31) / 32);
        coproc_region_words[10*4+:10] = 10'((W + 31) / 32);
        coproc_region_words[10*5+:10] = 10'((((N + W - 1) / W * W) + 31) / 32);
        coproc_region_words[10*6+:10] = 10'(((W * (D + 1)) + 31) / 32);
        coproc_region_words[10*7+:10] = 10'(((2 * N) + 31) / 32);
        coproc_region_words[10*8+:10] = 10'(((2 * N) + 31) / 32);
        coproc_region_words[10*9+:10] = 10'(((2 * N) + 31) / 32);
        coproc_region_words[10*10+:10] = 10'(((2 * N) + 31) / 32);
        coproc_region_words[10*11+:10] = 10'(((2 * N) + 31) / 32);
        coproc_region_words[10*12+:10] = 10'(((2 * N) + 31) / 32);
        coproc_region_words[10*13+:10] = 10'(((2 * N) + 31) / 32);
    endfunction
    // Regions that a key may omit, a bit each.
    typedef enum logic [31:0] {CoprocOptional = 32'h08} coproc_optional_e;

    // dghv: its parameters by number, its regions by number.
    typedef enum int unsigned {
        DghvParameterBlock = 0,
        DghvParameterPoints = 1,
        DghvParameterMemoryWords = 2,
        DghvParameterStreamBits = 3,
        DghvParameterRounds = 4,
        DghvParameterTimeout = 5,
        DghvParameterLongWords = 6,
        DghvParameterReserved7 = 7
    } dghv_parameter_e;
    typedef enum int unsigned {DghvSeed = 0} dghv_region_e;

    // Words of each region, 10 bits each, region 0 in the lowest bits; 0 if missing.
    function automatic logic [319:0] dghv_region_words();
        dghv_region_words = '0;
        dghv_region_words[10*0+:10] = 10'((128 + 31) / 32);
    endfunction
endpackage
