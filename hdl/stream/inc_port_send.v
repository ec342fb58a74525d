// SPDX-License-Identifier: Apache-2.0
//
// inc_port_send: the way out of the queue before a MAC. Reads words of the bus from the queue's memory and sends them in beats of the port's
// width.
//
// Contract
//   latency     2 cycles from a word that may be read (`more`) to its first beat
//   throughput  one beat a cycle; a frame leaves without a gap if `more` stays high from its first word to its last
//   order       that of the queue
//   stall       m_axis_tready low keeps the beat offered; while pause is high no frame begins, and one that has begun goes on
//   memory      re asks for the next word, which is rdata from the next cycle on and stays there while re is low; `begins` tells that it is
//               the first of a frame
//   reset       nothing offered
//   not done    no memory and no pointer: whoever has this module has them
`default_nettype none

module inc_port_send #(
    // bytes of a beat of the port, a power of two
    parameter PORT_BYTES = 2,
    // bytes of a beat of the bus, a power of two from PORT_BYTES on, at least 2
    parameter BYTES      = 8
) (
    input  wire                           clk,
    input  wire                           rst,

    // the queue's memory: {tlast, the word's last byte that counts, the word}
    input  wire                           more,
    output wire                           re,
    output wire                           begins,
    input  wire [8*BYTES+$clog2(BYTES):0] rdata,

    output wire [8*PORT_BYTES-1:0]        m_axis_tdata,
    output wire [PORT_BYTES-1:0]          m_axis_tkeep,
    output wire                           m_axis_tvalid,
    input  wire                           m_axis_tready,
    output wire                           m_axis_tlast,

    input  wire                           pause,
    // for one cycle: a frame has left
    output reg                            count_frame
);

    localparam SHIFT = $clog2(BYTES);

`ifndef __ICARUS__
    generate
        if (BYTES < 2 || BYTES != (1 << SHIFT)) begin : gen_bad_bytes
            $error("inc_port_send: BYTES must be a power of two, at least 2");
        end
        if (PORT_BYTES < 1 || PORT_BYTES > BYTES || PORT_BYTES != (1 << $clog2(PORT_BYTES))) begin : gen_bad_port
            $error("inc_port_send: PORT_BYTES must be a power of two up to BYTES");
        end
    endgenerate
`endif

    localparam LAST = PORT_BYTES - 1;
    localparam [SHIFT-1:0] IN_BEAT = LAST[SHIFT-1:0];
    localparam [SHIFT-1:0] STEP    = PORT_BYTES[SHIFT-1:0];

    // A word that was read stands at the memory's output until its last beat is taken; the one behind it is read in that cycle.
    reg                word_valid_reg;
    wire [8*BYTES-1:0] word;
    wire [SHIFT-1:0]   word_end;           // its last byte that counts
    wire               word_last;
    wire               pop;
    wire               fetch = more && (pop || !word_valid_reg);

    assign {word_last, word_end, word} = rdata;
    assign re     = fetch;
    assign begins = !word_valid_reg || word_last;

    reg                    out_valid_reg;
    reg                    out_last_reg;
    reg [8*PORT_BYTES-1:0] out_data_reg;
    reg [PORT_BYTES-1:0]   out_keep_reg;
    reg [SHIFT-1:0]        at_reg;         // the byte of the word with which the next beat begins
    reg                    inside_reg;     // a frame has begun, and its last beat is not in out_*_reg
    reg                    pause_reg;

    wire load    = word_valid_reg && (inside_reg || !pause_reg) && (!out_valid_reg || m_axis_tready);
    wire at_end  = (at_reg | IN_BEAT) == (word_end | IN_BEAT);
    wire [SHIFT-1:0] spare = ~word_end & IN_BEAT;             // bytes of the beat behind the last that counts
    assign pop   = load && at_end;

    assign m_axis_tvalid = out_valid_reg;
    assign m_axis_tdata  = out_data_reg;
    assign m_axis_tkeep  = out_keep_reg;
    assign m_axis_tlast  = out_last_reg;

    always @(posedge clk) begin
        pause_reg <= pause;
        if (fetch) begin
            word_valid_reg <= 1'b1;
        end else if (pop) begin
            word_valid_reg <= 1'b0;
        end
        if (load) begin
            out_valid_reg <= 1'b1;
            out_last_reg  <= at_end && word_last;
            out_data_reg  <= word[{at_reg, 3'b000} +: 8*PORT_BYTES];
            out_keep_reg  <= at_end ? {PORT_BYTES{1'b1}} >> spare : {PORT_BYTES{1'b1}};
            at_reg        <= at_end ? {SHIFT{1'b0}} : at_reg + STEP;
            inside_reg    <= !(at_end && word_last);
        end else if (m_axis_tready) begin
            out_valid_reg <= 1'b0;
        end
        count_frame <= out_valid_reg && m_axis_tready && out_last_reg;

        if (rst) begin
            word_valid_reg <= 1'b0;
            out_valid_reg  <= 1'b0;
            at_reg         <= {SHIFT{1'b0}};
            inside_reg     <= 1'b0;
            count_frame    <= 1'b0;
        end
    end

endmodule

`default_nettype wire
