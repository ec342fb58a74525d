// SPDX-License-Identifier: Apache-2.0

// A number that is chosen when the simulation begins, and a counter that stops at it.
module chosen (
    input  wire        clk,
    input  wire        rst,
    output wire [31:0] number,
    output reg  [31:0] count
);
    integer choice;
    initial if (!$value$plusargs("choice=%d", choice)) choice = 0;

    assign number = choice;

    always @(posedge clk) begin
        if (rst) count <= 32'd0;
        else if (count != number) count <= count + 32'd1;
    end
endmodule
