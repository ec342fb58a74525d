// SPDX-License-Identifier: Apache-2.0
//
// inc_frame_steps_sva: a step has one frame; a decided frame is passed or dropped for one reason, no other is; an endpoint is one.
`default_nettype none

module inc_frame_steps_sva #(
    parameter MASK_W = 5
) (
    input wire              clk,
    input wire              rst,

    input wire              s_go,
    input wire              a_go,
    input wire              b_go,
    input wire              a_valid,
    input wire              b_valid,
    input wire              c_valid,
    input wire              c_leaves,
    input wire              c_decided,
    input wire              c_passed,
    input wire [5:0]        c_drops,
    input wire              ent_valid,
    input wire              ent_pop,
    input wire [MASK_W-1:0] b_self,
    input wire [MASK_W-1:0] c_self
);

    localparam [MASK_W-1:0] ONE = {{(MASK_W-1){1'b0}}, 1'b1};
    wire [5:0] others = c_drops - 6'd1;

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg <= live_reg || rst;
        if (live_reg && !rst) begin
            begin : b_into_free_step assert (!b_go || (b_valid && (!c_valid || c_leaves))); end
            begin : a_into_free_step assert (!a_go || (a_valid && (!b_valid || b_go))); end
            begin : s_into_free_step assert (!s_go || !a_valid || a_go); end
            begin : somebody_leaves assert (!c_leaves || c_valid); end
            begin : entry_is_there assert (!ent_pop || ent_valid); end
            begin : one_reason assert ((c_drops & others) == 6'd0 && !(c_passed && c_drops != 6'd0)); end
            begin : a_reason_each assert (c_decided == (c_passed || c_drops != 6'd0)); end
            begin : one_endpoint assert (!b_valid || (b_self & (b_self - ONE)) == {MASK_W{1'b0}}); end
            begin : one_endpoint_in_c assert (!c_valid || (c_self & (c_self - ONE)) == {MASK_W{1'b0}}); end
        end
    end

endmodule

`default_nettype wire
