// SPDX-License-Identifier: Apache-2.0
//
// inc_fifo: a small first-in first-out queue whose head is always in view.
//
// Contract
//   latency     1 cycle from a push to the head of an empty queue
//   throughput  one push and one pop per cycle
//   stall       the writer watches `room`, true while more than MARGIN entries are free; a push while full spoils the queue,
//               unless a pop makes space in the same cycle
//   reset       empty
//   not done    meant for shallow queues: storage is read without a clock; a pop while empty is not caught
`default_nettype none

module inc_fifo #(
    // bits of an entry, at least 1
    parameter WIDTH   = 8,
    // log2 of the number of entries, 1 to 10
    parameter DEPTH_W = 4,
    // entries kept free for pushes already under way; 0 to 2**DEPTH_W - 1
    parameter MARGIN  = 0,
    // so many of the head's lowest bits stand in flip-flops, where what follows from them takes long; 0 to WIDTH
    parameter HEAD    = 0
) (
    input  wire             clk,
    input  wire             rst,

    input  wire             push,
    input  wire [WIDTH-1:0] push_data,
    output wire             room,

    output wire             valid,
    output wire [WIDTH-1:0] data,
    input  wire             pop
);

`ifndef __ICARUS__
    generate
        if (WIDTH < 1) begin : gen_bad_width
            $error("inc_fifo: WIDTH must be at least 1");
        end
        if (DEPTH_W < 1 || DEPTH_W > 10) begin : gen_bad_depth
            $error("inc_fifo: DEPTH_W must be 1 to 10");
        end
        if (MARGIN < 0 || MARGIN >= (1 << DEPTH_W)) begin : gen_bad_margin
            $error("inc_fifo: MARGIN must be less than 2**DEPTH_W");
        end
        if (HEAD < 0 || HEAD > WIDTH) begin : gen_bad_head
            $error("inc_fifo: HEAD must be 0 to WIDTH");
        end
    endgenerate
`endif

    localparam LIMIT = (1 << DEPTH_W) - MARGIN;
    localparam [DEPTH_W:0] LIMIT_COUNT = LIMIT[DEPTH_W:0];

    reg [WIDTH-1:0]   mem [0:(1 << DEPTH_W)-1];
    reg [DEPTH_W-1:0] head_reg;
    reg [DEPTH_W-1:0] tail_reg;
    reg [DEPTH_W:0]   count_reg;
    reg               valid_reg;     // the count is not 0

    assign valid = valid_reg;
    generate
        if (MARGIN == 0) begin : gen_full
            // all 2**DEPTH_W are taken: a bit, where a comparison would be a carry chain on an FPGA
            assign room = !count_reg[DEPTH_W];
        end else begin : gen_margin
            assign room = count_reg < LIMIT_COUNT;
        end
    endgenerate
    wire more = count_reg[DEPTH_W:1] != {DEPTH_W{1'b0}};     // than one

    generate
        if (HEAD != 0) begin : gen_head
            reg  [HEAD-1:0]    first_reg;
            wire [DEPTH_W-1:0] second = head_reg + {{(DEPTH_W-1){1'b0}}, 1'b1};
            assign data[HEAD-1:0] = first_reg;
            always @(posedge clk) begin
                if (pop || !valid_reg) begin
                    first_reg <= more ? mem[second][HEAD-1:0] : push_data[HEAD-1:0];
                end
            end
        end
        if (HEAD != WIDTH) begin : gen_place
            assign data[WIDTH-1:HEAD] = mem[head_reg][WIDTH-1:HEAD];
        end
    endgenerate

    // One more and one less differ from the count in these bits. Push and pop come late: they only choose.
    wire [DEPTH_W:0] up   = count_reg ^ (count_reg + {{DEPTH_W{1'b0}}, 1'b1});
    wire [DEPTH_W:0] down = count_reg ^ (count_reg - {{DEPTH_W{1'b0}}, 1'b1});

    always @(posedge clk) begin
        if (push) begin
            mem[tail_reg] <= push_data;
            tail_reg      <= tail_reg + {{(DEPTH_W-1){1'b0}}, 1'b1};
        end
        if (pop) begin
            head_reg <= head_reg + {{(DEPTH_W-1){1'b0}}, 1'b1};
        end
        count_reg <= count_reg ^ (up & {(DEPTH_W+1){push && !pop}}) ^ (down & {(DEPTH_W+1){pop && !push}});
        valid_reg <= push || more || (valid_reg && !pop);

        if (rst) begin
            valid_reg <= 1'b0;
            head_reg  <= {DEPTH_W{1'b0}};
            tail_reg  <= {DEPTH_W{1'b0}};
            count_reg <= {(DEPTH_W+1){1'b0}};
        end
    end

endmodule

`default_nettype wire
