// SPDX-License-Identifier: Apache-2.0
//
// inc_stream_fifo: a deep queue of beats in RAM.
//
// Contract
//   latency     3 cycles from a push to the head of an empty queue
//   throughput  one push and one pop per cycle, no bubbles
//   stall       the writer watches `room`, true while more than MARGIN entries are free; a push while full spoils the queue,
//               unless a pop makes space in the same cycle
//   reset       empty
//   not done    knows nothing of frames; a pop while empty is not caught
`default_nettype none

module inc_stream_fifo #(
    // bits of a beat with all its sidebands, at least 1
    parameter WIDTH   = 8,
    // log2 of the number of entries, 2 to 16
    parameter DEPTH_W = 4,
    // entries kept free for pushes already under way; 0 to 2**DEPTH_W - 1
    parameter MARGIN  = 0
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
            $error("inc_stream_fifo: WIDTH must be at least 1");
        end
        if (DEPTH_W < 2 || DEPTH_W > 16) begin : gen_bad_depth
            $error("inc_stream_fifo: DEPTH_W must be 2 to 16");
        end
        if (MARGIN < 0 || MARGIN >= (1 << DEPTH_W)) begin : gen_bad_margin
            $error("inc_stream_fifo: MARGIN must be less than 2**DEPTH_W");
        end
    endgenerate
`endif

    localparam LIMIT = (1 << DEPTH_W) - MARGIN;
    localparam [DEPTH_W:0] LIMIT_COUNT = LIMIT[DEPTH_W:0];

    // used_reg counts beats from push to pop, wait_reg those still in the RAM. A RAM shows what was read late in its cycle, so the head stands in
    // a register; the beat behind it stands at the RAM's output, and the one behind that is read in the cycle of the pop, which leaves no bubble.
    reg [DEPTH_W-1:0] tail_reg;
    reg [DEPTH_W-1:0] head_reg;
    reg [DEPTH_W:0]   used_reg;
    reg [DEPTH_W:0]   wait_reg;
    reg               waits_reg;     // there are such
    reg               ram_valid_reg, head_valid_reg;
    reg [WIDTH-1:0]   data_reg;
    wire [WIDTH-1:0]  ram_data;

    assign valid = head_valid_reg;
    assign data  = data_reg;
    assign room  = used_reg < LIMIT_COUNT;

    wire moves = ram_valid_reg && (pop || !head_valid_reg);
    wire fetch = waits_reg && (pop || !ram_valid_reg || !head_valid_reg);

    // One more and one less differ from a count in these bits. Push, pop and fetch come late: they only choose.
    wire [DEPTH_W:0] used_up   = used_reg ^ (used_reg + {{DEPTH_W{1'b0}}, 1'b1});
    wire [DEPTH_W:0] used_down = used_reg ^ (used_reg - {{DEPTH_W{1'b0}}, 1'b1});
    wire [DEPTH_W:0] wait_up   = wait_reg ^ (wait_reg + {{DEPTH_W{1'b0}}, 1'b1});
    wire [DEPTH_W:0] wait_down = wait_reg ^ (wait_reg - {{DEPTH_W{1'b0}}, 1'b1});

    inc_mem_bypass #(.WORDS(1 << DEPTH_W), .BITS(WIDTH), .ADDR_W(DEPTH_W)) u_mem (
        .clk   (clk),
        .we    (push),
        .waddr (tail_reg),
        .wdata (push_data),
        .re    (fetch),
        .raddr (head_reg),
        .rdata (ram_data)
    );

    always @(posedge clk) begin
        if (push) begin
            tail_reg <= tail_reg + {{(DEPTH_W-1){1'b0}}, 1'b1};
        end
        if (fetch) begin
            head_reg <= head_reg + {{(DEPTH_W-1){1'b0}}, 1'b1};
        end
        used_reg  <= used_reg ^ (used_up & {(DEPTH_W+1){push && !pop}}) ^ (used_down & {(DEPTH_W+1){pop && !push}});
        wait_reg  <= wait_reg ^ (wait_up & {(DEPTH_W+1){push && !fetch}}) ^ (wait_down & {(DEPTH_W+1){fetch && !push}});
        waits_reg <= push || wait_reg[DEPTH_W:1] != {DEPTH_W{1'b0}} || (waits_reg && !fetch);

        ram_valid_reg  <= fetch || (ram_valid_reg && !moves);
        head_valid_reg <= moves || (head_valid_reg && !pop);
        if (moves) begin
            data_reg <= ram_data;
        end

        if (rst) begin
            tail_reg       <= {DEPTH_W{1'b0}};
            head_reg       <= {DEPTH_W{1'b0}};
            used_reg       <= {(DEPTH_W+1){1'b0}};
            wait_reg       <= {(DEPTH_W+1){1'b0}};
            waits_reg      <= 1'b0;
            ram_valid_reg  <= 1'b0;
            head_valid_reg <= 1'b0;
        end
    end

endmodule

`default_nettype wire
