// SPDX-License-Identifier: Apache-2.0
//
// inc_counters_sva: no step is lost: the few bits that gather them hold all of a turn; a turn stays among the counters.
`default_nettype none

module inc_counters_sva #(
    parameter COUNTERS = 46,
    parameter INDEX_W = 6
) (
    input wire                clk,
    input wire                rst,

    input wire                turn,
    input wire [COUNTERS-1:0] carry,
    input wire                run_reg,
    input wire [INDEX_W-1:0]  index_reg,
    input wire                rd_en,
    input wire [INDEX_W-1:0]  rd_index
);

    localparam LAST_I = COUNTERS - 1;
    localparam [INDEX_W-1:0] LAST = LAST_I[INDEX_W-1:0];

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg <= live_reg || rst;
        if (live_reg && !rst) begin
            begin : no_step_lost assert (turn || carry == {COUNTERS{1'b0}}); end
            begin : turn_in_range assert (!run_reg || index_reg <= LAST); end
            begin : read_in_range assert (!rd_en || rd_index <= LAST); end
        end
    end

endmodule

`default_nettype wire
