// SPDX-License-Identifier: Apache-2.0

// One stage of once.
module stage (
    input  wire         clk,
    input  wire         rst,
    input  wire [99:0]  a,
    input  wire         ready,
    output wire         asks,
    output reg  [99:0]  y,
    output reg  [7:0]   held
);
    assign asks = ready ^ a[99];

    always @(posedge clk) begin
        if (rst) begin
            y    <= 100'd0;
            held <= 8'd0;
        end else if (asks) begin
            y <= {a[98:0], a[99]} + 100'd1;
        end else begin
            held <= held + 8'd1;
        end
        if (a[99:0] == ~100'd0) $error("all ones in a stage");
    end
endmodule
