// SPDX-License-Identifier: Apache-2.0

// Counter with everything the simulator's own tests look for: a narrow, a wide and an
// odd port, a register without reset, a combinational path, and ways to stop.
module counter #(
    parameter WIDTH = 8
) (
    input  wire             clk,
    input  wire             rst,
    input  wire             enable,
    input  wire [2:0]       stop,      // 1 $error, 2 assert, 3 $stop, 4 $finish, 5 $fatal
    input  wire [99:0]      wide__in,
    input  wire [40:0]      odd_in,
    output reg  [WIDTH-1:0] count,
    output wire             next_zero, // combinational from enable
    output wire [99:0]      wide_out,
    output wire [40:0]      odd_out,
    output reg  [31:0]      stale      // has no reset
);
    always @(posedge clk) begin
        if (rst) count <= {WIDTH{1'b0}};
        else if (enable) count <= count + 1'b1;
        if (enable && !rst) stale <= stale ^ {24'd0, wide__in[7:0]};

        if (stop == 3'd1) $error("count is %0d", count);
        assert_stop : assert (stop != 3'd2);
        if (stop == 3'd3) $stop;
        if (stop == 3'd4) $finish;
        if (stop == 3'd5) $fatal(1, "giving up");
        if (stop == 3'd6) $display("count %0d", count);
    end

    assign next_zero = enable && (&count);
    assign wide_out  = ~wide__in;
    assign odd_out   = odd_in + 41'd1;
endmodule
