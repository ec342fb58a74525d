// SPDX-License-Identifier: Apache-2.0
//
// inc_stream_sva: what is offered stands still until it is taken.
`default_nettype none

module inc_stream_sva #(
    parameter WIDTH = 1
) (
    input wire             clk,
    input wire             rst,

    input wire             valid,
    input wire             ready,
    input wire [WIDTH-1:0] data
);

    reg             waits_reg;
    reg [WIDTH-1:0] data_reg;

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg  <= live_reg || rst;
        waits_reg <= !rst && valid && !ready;
        data_reg  <= data;
        if (live_reg && !rst) begin
            begin : still_offered assert (!waits_reg || valid); end
            begin : same_data assert (!waits_reg || data == data_reg); end
        end
    end

endmodule

`default_nettype wire
