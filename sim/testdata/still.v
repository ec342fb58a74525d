// SPDX-License-Identifier: Apache-2.0

// Works inside, for some time, while nothing is to be seen at its ports: what is skipped too early shows later.
module still #(
    parameter TIMED = 0               // 1: an output depends on the time
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [15:0] load,          // begins to count down to 0
    input  wire        spin,          // the last word of the memory counts up, and no register moves
    output wire        done,          // a cycle long, when the count reaches 0
    output wire        full,          // the last word is 200 or above
    output wire [31:0] sum            // of all done so far, and of the time
);
    reg [15:0] count;
    reg [31:0] words;
    reg [63:0] mem [0:2047];

    assign done = count == 16'd1;
    assign full = mem[2047][7:0] >= 8'd200;
    assign sum  = words + (TIMED != 0 ? $time : 32'd0);

    always @(posedge clk) begin
        if (rst) begin
            count     <= 16'd0;
            words     <= 32'd0;
            mem[2047] <= 64'd0;
        end else begin
            if (load != 16'd0) count <= load;
            else if (count != 16'd0) count <= count - 16'd1;
            if (done) words <= words + 32'd1;
            if (spin) mem[2047] <= mem[2047] + 64'd1;
        end
    end
endmodule
