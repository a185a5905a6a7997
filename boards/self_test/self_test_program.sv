// SPDX-License-Identifier: MIT OR Apache-2.0
// Written by scripts/self_test.py: edit that script, then run it.
// The steps of the self-test: operation; address, or a beat's {keep, last}; data. Combinational.
module self_test_program (
    input  logic [6:0]  step_i,
    output logic [2:0]  operation_o,
    output logic [16:0] address_o,    // of a register, or {keep, last} of a beat
    output logic [31:0] data_o
);
    // 0 finish, 1 write, 2 read, 3 send, 4 expect, 5 interrupt.
    always_comb begin
        case (step_i)
            7'd0: {operation_o, address_o, data_o} = {3'd2, 17'h00000, 32'h4d455341};
            7'd1: {operation_o, address_o, data_o} = {3'd2, 17'h00004, 32'h00000003};
            7'd2: {operation_o, address_o, data_o} = {3'd2, 17'h0000c, 32'h00000000};
            7'd3: {operation_o, address_o, data_o} = {3'd2, 17'h00018, 32'h00000000};
            7'd4: {operation_o, address_o, data_o} = {3'd1, 17'h10000, 32'hae1499b0};
            7'd5: {operation_o, address_o, data_o} = {3'd1, 17'h10004, 32'he5603d67};
            7'd6: {operation_o, address_o, data_o} = {3'd2, 17'h00028, 32'ha10b9f72};
            7'd7: {operation_o, address_o, data_o} = {3'd1, 17'h10800, 32'h00000019};
            7'd8: {operation_o, address_o, data_o} = {3'd1, 17'h10804, 32'hfffffff6};
            7'd9: {operation_o, address_o, data_o} = {3'd2, 17'h00028, 32'ha5659a00};
            7'd10: {operation_o, address_o, data_o} = {3'd1, 17'h11000, 32'hff591b64};
            7'd11: {operation_o, address_o, data_o} = {3'd1, 17'h11004, 32'h0026259f};
            7'd12: {operation_o, address_o, data_o} = {3'd2, 17'h00028, 32'hadc4d172};
            7'd13: {operation_o, address_o, data_o} = {3'd1, 17'h11800, 32'hfffff8ad};
            7'd14: {operation_o, address_o, data_o} = {3'd1, 17'h11804, 32'h000001f3};
            7'd15: {operation_o, address_o, data_o} = {3'd2, 17'h00028, 32'hb84ae6b4};
            7'd16: {operation_o, address_o, data_o} = {3'd1, 17'h12000, 32'hfffffffa};
            7'd17: {operation_o, address_o, data_o} = {3'd2, 17'h00028, 32'hc8210fcd};
            7'd18: {operation_o, address_o, data_o} = {3'd1, 17'h12800, 32'hfffffffb};
            7'd19: {operation_o, address_o, data_o} = {3'd2, 17'h00028, 32'h709d68a8};
            7'd20: {operation_o, address_o, data_o} = {3'd1, 17'h13000, 32'h238e3a41};
            7'd21: {operation_o, address_o, data_o} = {3'd1, 17'h13004, 32'ha38e38c4};
            7'd22: {operation_o, address_o, data_o} = {3'd2, 17'h00028, 32'h17554d94};
            7'd23: {operation_o, address_o, data_o} = {3'd1, 17'h13800, 32'h00000055};
            7'd24: {operation_o, address_o, data_o} = {3'd1, 17'h13804, 32'hffffffea};
            7'd25: {operation_o, address_o, data_o} = {3'd2, 17'h00028, 32'hc198a585};
            7'd26: {operation_o, address_o, data_o} = {3'd1, 17'h14000, 32'h2a84e2ea};
            7'd27: {operation_o, address_o, data_o} = {3'd1, 17'h14004, 32'he9f5793c};
            7'd28: {operation_o, address_o, data_o} = {3'd2, 17'h00028, 32'hbc9d6b77};
            7'd29: {operation_o, address_o, data_o} = {3'd1, 17'h14800, 32'h00000121};
            7'd30: {operation_o, address_o, data_o} = {3'd1, 17'h14804, 32'hffffffde};
            7'd31: {operation_o, address_o, data_o} = {3'd2, 17'h00028, 32'h30bc5ead};
            7'd32: {operation_o, address_o, data_o} = {3'd1, 17'h15000, 32'h85f2de81};
            7'd33: {operation_o, address_o, data_o} = {3'd1, 17'h15004, 32'h0ea8ae58};
            7'd34: {operation_o, address_o, data_o} = {3'd2, 17'h00028, 32'h7c2ae904};
            7'd35: {operation_o, address_o, data_o} = {3'd1, 17'h15800, 32'hfffc2d3d};
            7'd36: {operation_o, address_o, data_o} = {3'd1, 17'h15804, 32'h00004cc3};
            7'd37: {operation_o, address_o, data_o} = {3'd2, 17'h00028, 32'h60ccea3b};
            7'd38: {operation_o, address_o, data_o} = {3'd1, 17'h16000, 32'hffffffee};
            7'd39: {operation_o, address_o, data_o} = {3'd2, 17'h00028, 32'h175acf05};
            7'd40: {operation_o, address_o, data_o} = {3'd1, 17'h16800, 32'hffffffef};
            7'd41: {operation_o, address_o, data_o} = {3'd2, 17'h00028, 32'hafe6a860};
            7'd42: {operation_o, address_o, data_o} = {3'd1, 17'h17000, 32'h78e3bba3};
            7'd43: {operation_o, address_o, data_o} = {3'd1, 17'h17004, 32'h4e38da77};
            7'd44: {operation_o, address_o, data_o} = {3'd2, 17'h00028, 32'hcaed1ed1};
            7'd45: {operation_o, address_o, data_o} = {3'd1, 17'h17800, 32'h00200000};
            7'd46: {operation_o, address_o, data_o} = {3'd2, 17'h00028, 32'hb4c0fbbe};
            7'd47: {operation_o, address_o, data_o} = {3'd1, 17'h0001c, 32'h00000002};
            7'd48: {operation_o, address_o, data_o} = {3'd1, 17'h00010, 32'h00000001};
            7'd49: {operation_o, address_o, data_o} = {3'd2, 17'h00014, 32'h00000001};
            7'd50: {operation_o, address_o, data_o} = {3'd3, 17'h0001e, 32'h00004548};
            7'd51: {operation_o, address_o, data_o} = {3'd3, 17'h0001e, 32'h0002beef};
            7'd52: {operation_o, address_o, data_o} = {3'd3, 17'h0001e, 32'h9ed2041b};
            7'd53: {operation_o, address_o, data_o} = {3'd3, 17'h0001e, 32'h7ad37847};
            7'd54: {operation_o, address_o, data_o} = {3'd3, 17'h0001e, 32'h71642f10};
            7'd55: {operation_o, address_o, data_o} = {3'd3, 17'h0001e, 32'h9b6762b4};
            7'd56: {operation_o, address_o, data_o} = {3'd3, 17'h0001e, 32'h6a85b89b};
            7'd57: {operation_o, address_o, data_o} = {3'd3, 17'h0001e, 32'h74b6506d};
            7'd58: {operation_o, address_o, data_o} = {3'd3, 17'h0001e, 32'h6cbddddc};
            7'd59: {operation_o, address_o, data_o} = {3'd3, 17'h0001f, 32'h8482d89d};
            7'd60: {operation_o, address_o, data_o} = {3'd4, 17'h00000, 32'h00004548};
            7'd61: {operation_o, address_o, data_o} = {3'd4, 17'h00000, 32'h0002beef};
            7'd62: {operation_o, address_o, data_o} = {3'd4, 17'h00000, 32'h89abcdef};
            7'd63: {operation_o, address_o, data_o} = {3'd4, 17'h00000, 32'h01234567};
            7'd64: {operation_o, address_o, data_o} = {3'd4, 17'h00000, 32'h00000054};
            7'd65: {operation_o, address_o, data_o} = {3'd4, 17'h00001, 32'hffffffea};
            7'd66: {operation_o, address_o, data_o} = {3'd5, 17'h00000, 32'h00000000};
            7'd67: {operation_o, address_o, data_o} = {3'd1, 17'h00020, 32'h00000006};
            7'd68: {operation_o, address_o, data_o} = {3'd2, 17'h00018, 32'h00000000};
            7'd69: {operation_o, address_o, data_o} = {3'd2, 17'h00048, 32'h00000002};
            7'd70: {operation_o, address_o, data_o} = {3'd2, 17'h00050, 32'h00000002};
            7'd71: {operation_o, address_o, data_o} = {3'd2, 17'h00014, 32'h00000001};
            7'd72: {operation_o, address_o, data_o} = {3'd3, 17'h0001e, 32'h00004548};
            7'd73: {operation_o, address_o, data_o} = {3'd3, 17'h0001e, 32'h0001cafe};
            7'd74: {operation_o, address_o, data_o} = {3'd3, 17'h0001e, 32'h9ed2041b};
            7'd75: {operation_o, address_o, data_o} = {3'd3, 17'h0001e, 32'h7ad37847};
            7'd76: {operation_o, address_o, data_o} = {3'd3, 17'h0001e, 32'h71642f10};
            7'd77: {operation_o, address_o, data_o} = {3'd3, 17'h0000f, 32'h9b6762b4};
            7'd78: {operation_o, address_o, data_o} = {3'd4, 17'h00000, 32'h00004548};
            7'd79: {operation_o, address_o, data_o} = {3'd4, 17'h00000, 32'h0001cafe};
            7'd80: {operation_o, address_o, data_o} = {3'd4, 17'h00001, 32'h00000000};
            7'd81: {operation_o, address_o, data_o} = {3'd5, 17'h00000, 32'h00000000};
            7'd82: {operation_o, address_o, data_o} = {3'd2, 17'h00018, 32'h00000200};
            7'd83: {operation_o, address_o, data_o} = {3'd1, 17'h00018, 32'h00000200};
            7'd84: {operation_o, address_o, data_o} = {3'd2, 17'h00018, 32'h00000000};
            7'd85: {operation_o, address_o, data_o} = {3'd2, 17'h00050, 32'h00000002};
            7'd86: {operation_o, address_o, data_o} = {3'd1, 17'h00010, 32'h00000004};
            7'd87: {operation_o, address_o, data_o} = {3'd2, 17'h00014, 32'h00000000};
            7'd88: {operation_o, address_o, data_o} = {3'd2, 17'h0000c, 32'h00000001};
            7'd89: {operation_o, address_o, data_o} = {3'd0, 17'h00000, 32'h00000000};
            default: {operation_o, address_o, data_o} = '0;
        endcase
    end
endmodule
