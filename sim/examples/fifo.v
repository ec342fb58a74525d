// SPDX-License-Identifier: Apache-2.0

// Synchronous FIFO, written by hand: 2**LOG2 words, first word falls through.
// A write while full and a read while empty are mistakes of the user, and asserted.
module fifo #(
    parameter WIDTH = 16,
    parameter LOG2  = 3
) (
    input  wire             clk,
    input  wire             rst,
    input  wire             write,
    input  wire [WIDTH-1:0] data_in,
    output wire             full,
    input  wire             read,
    output wire [WIDTH-1:0] data_out,
    output wire             empty
);
    reg [WIDTH-1:0] words [0:(1<<LOG2)-1];
    reg [LOG2:0]    first, last;

    assign empty    = first == last;
    assign full     = first == {~last[LOG2], last[LOG2-1:0]};
    assign data_out = words[first[LOG2-1:0]];

    always @(posedge clk) begin
        if (write) words[last[LOG2-1:0]] <= data_in;
        last  <= rst ? 0 : last + {{LOG2{1'b0}}, write};
        first <= rst ? 0 : first + {{LOG2{1'b0}}, read};
        if (!rst) begin
            assert_no_overflow : assert (!(write && full)) else $error("write while full");
            assert_no_underflow : assert (!(read && empty)) else $error("read while empty");
        end
    end
endmodule
