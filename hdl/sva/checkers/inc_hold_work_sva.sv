// SPDX-License-Identifier: Apache-2.0
//
// inc_hold_work_sva: one work at a time, with one verdict; it is offered when it is taken.
`default_nettype none

module inc_hold_work_sva (
    input wire  clk,
    input wire  rst,

    input wire  put,
    input wire  commits,
    input wire  kills,
    input wire  held_reg,
    input wire  op_valid,
    input wire  op_ready
);

    reg waits_reg;                          // a work has no verdict yet
    reg offered_reg;

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg    <= live_reg || rst;
        waits_reg   <= !rst && (put || (waits_reg && !commits && !kills));
        offered_reg <= !rst && op_valid;
        if (live_reg && !rst) begin
            begin : one_at_a_time assert (!put || !held_reg); end
            begin : verdict_first assert (!put || !waits_reg || commits || kills); end
            begin : one_verdict assert (!(commits && kills)); end
            begin : offered_when_taken assert (!op_valid || op_ready); end
            begin : offered_once assert (!offered_reg || !held_reg); end
        end
    end

endmodule

`default_nettype wire
