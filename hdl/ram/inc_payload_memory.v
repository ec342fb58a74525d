// SPDX-License-Identifier: Apache-2.0
//
// inc_payload_memory: the payload rows of all slots, in one memory or in banks, with or without error correction.
//
// Contract
//   latency     ECC 0: 1 cycle from re && re_ready to rdata. ECC 1: the row that was read leaves the memory in the next cycle and passes
//               into a register with move, in that cycle or later; rdata, r_corrected and r_poison are there in the cycle after
//   throughput  one write and one read per cycle; with BANKS above 1 the read only while re_ready
//   stall       a write is always taken. re_ready is low, in the same cycle, while the bank of raddr is being written; it follows
//               we, waddr and raddr, not re, and is always high with one bank. A row that was read waits until the next read that
//               is taken; rdata and the flags hold until the next move
//   collision   BANKS 1: a read of the row being written returns the old row. More banks: such a read is not taken
//   banks       row r lies in bank r mod BANKS, which has one port; one bank is a memory with a read and a write port
//   errors      ECC 1: each 128 bits of a row (64 or 32 if it has no more; 1,024 if it is a multiple of them) are a SECDED
//               codeword. r_corrected: some codeword had a single error, which rdata shows corrected. r_poison: some codeword had a
//               double error or was written with wpoison; its bits in rdata mean nothing. A row that was never written raises either
//   inject      0, 1 or 2 of the lowest stored bits of the row written are inverted (3 is as 2)
//   reset       none; the rows are unknown until written
//   not done    ECC 0: r_corrected and r_poison are 0, move, wpoison and inject are not looked at. A corrected row is not written back
`default_nettype none

module inc_payload_memory #(
    // number of rows, at least 2 a bank
    parameter ROWS   = 16,
    // bits of a row, a multiple of 32; with ECC 32, 64 or a multiple of 128
    parameter BITS   = 64,
    // bits of a row's number; 2**ADDR_W >= ROWS
    parameter ADDR_W = 4,
    // 1: one memory with two ports; 2, 4, 8 or 16: so many with one
    parameter BANKS  = 1,
    // 1: rows are kept with check bits
    parameter ECC    = 0,
    // how the memories are built, as in inc_ram_1r1w
    parameter STYLE  = 0
) (
    input  wire              clk,

    input  wire              we,
    input  wire [ADDR_W-1:0] waddr,
    input  wire [BITS-1:0]   wdata,
    input  wire              wpoison,

    input  wire              re,
    input  wire [ADDR_W-1:0] raddr,
    output wire              re_ready,
    // ECC 1: what was read passes on, to be corrected
    input  wire              move,
    output wire [BITS-1:0]   rdata,
    output wire              r_corrected,
    output wire              r_poison,

    input  wire [1:0]        inject
);

`ifndef __ICARUS__
    generate
        if (BANKS != 1 && BANKS != 2 && BANKS != 4 && BANKS != 8 && BANKS != 16) begin : gen_bad_banks
            $error("inc_payload_memory: BANKS must be 1, 2, 4, 8 or 16");
        end
        if (ROWS < 2 * BANKS) begin : gen_bad_rows
            $error("inc_payload_memory: ROWS must be at least 2 * BANKS");
        end
        if (BITS < 32 || BITS % 32 != 0) begin : gen_bad_bits
            $error("inc_payload_memory: BITS must be a multiple of 32");
        end
        if (ECC != 0 && BITS != 32 && BITS != 64 && BITS % 128 != 0) begin : gen_bad_ecc_bits
            $error("inc_payload_memory: with ECC, BITS must be 32, 64 or a multiple of 128");
        end
        if (ECC != 0 && ECC != 1) begin : gen_bad_ecc
            $error("inc_payload_memory: ECC must be 0 or 1");
        end
        if (ADDR_W < 1 || ADDR_W > 30 || (1 << ADDR_W) < ROWS) begin : gen_bad_addr_w
            $error("inc_payload_memory: 2**ADDR_W must be at least ROWS");
        end
        if (STYLE < 0 || STYLE > 2) begin : gen_bad_style
            $error("inc_payload_memory: STYLE must be 0, 1 or 2");
        end
    endgenerate
`endif

    localparam DATA   = BITS % 1024 == 0 ? 1024 : BITS < 128 ? BITS : 128;
    localparam CODE   = DATA + (DATA == 1024 ? 12 : DATA == 128 ? 9 : DATA == 64 ? 8 : 7);
    localparam WORDS  = BITS / DATA; // codewords of a row
    localparam STORED = ECC != 0 ? WORDS * CODE : BITS;

    wire [STORED-1:0] row_in, row_out;

    // ---- check bits ----

    genvar i;
    generate
        if (ECC != 0) begin : gen_ecc
            wire [STORED-1:0] encoded;
            wire [WORDS-1:0]  corrected, poison;
            // A memory takes most of a cycle, and so does the correction.
            reg  [STORED-1:0] code_reg;
            always @(posedge clk) begin
                if (move) begin
                    code_reg <= row_out;
                end
            end
            for (i = 0; i < WORDS; i = i + 1) begin : gen_word
                if (DATA == 1024) begin : gen_1024
                    inc_secded_encode_1024 u_encode (
                        .data      (wdata[i*DATA +: DATA]),
                        .poison    (wpoison),
                        .code      (encoded[i*CODE +: CODE])
                    );
                    inc_secded_decode_1024 u_decode (
                        .code      (code_reg[i*CODE +: CODE]),
                        .data      (rdata[i*DATA +: DATA]),
                        .corrected (corrected[i]),
                        .poison    (poison[i])
                    );
                end else if (DATA == 128) begin : gen_128
                    inc_secded_encode_128 u_encode (
                        .data      (wdata[i*DATA +: DATA]),
                        .poison    (wpoison),
                        .code      (encoded[i*CODE +: CODE])
                    );
                    inc_secded_decode_128 u_decode (
                        .code      (code_reg[i*CODE +: CODE]),
                        .data      (rdata[i*DATA +: DATA]),
                        .corrected (corrected[i]),
                        .poison    (poison[i])
                    );
                end else if (DATA == 64) begin : gen_64
                    inc_secded_encode_64 u_encode (
                        .data      (wdata[i*DATA +: DATA]),
                        .poison    (wpoison),
                        .code      (encoded[i*CODE +: CODE])
                    );
                    inc_secded_decode_64 u_decode (
                        .code      (code_reg[i*CODE +: CODE]),
                        .data      (rdata[i*DATA +: DATA]),
                        .corrected (corrected[i]),
                        .poison    (poison[i])
                    );
                end else begin : gen_32
                    inc_secded_encode_32 u_encode (
                        .data      (wdata[i*DATA +: DATA]),
                        .poison    (wpoison),
                        .code      (encoded[i*CODE +: CODE])
                    );
                    inc_secded_decode_32 u_decode (
                        .code      (code_reg[i*CODE +: CODE]),
                        .data      (rdata[i*DATA +: DATA]),
                        .corrected (corrected[i]),
                        .poison    (poison[i])
                    );
                end
            end
            assign row_in      = {encoded[STORED-1:2], encoded[1:0] ^ {inject[1], inject != 2'd0}};
            assign r_corrected = corrected != {WORDS{1'b0}};
            assign r_poison    = poison != {WORDS{1'b0}};
        end else begin : gen_plain
            wire unused_bits = &{1'b0, move, wpoison, inject};
            assign row_in      = wdata;
            assign rdata       = row_out;
            assign r_corrected = 1'b0;
            assign r_poison    = 1'b0;
        end
    endgenerate

    // ---- rows ----

    genvar b;
    generate
        if (BANKS == 1) begin : gen_one
            assign re_ready = 1'b1;
            inc_mem_payload_2p #(.WORDS(ROWS), .BITS(STORED), .ADDR_W(ADDR_W), .STYLE(STYLE)) u_mem (
                .clk   (clk),
                .we    (we),
                .waddr (waddr),
                .wdata (row_in),
                .re    (re),
                .raddr (raddr),
                .rdata (row_out)
            );
        end else begin : gen_banks
            localparam BANK_W = $clog2(BANKS);
            localparam LINE_W = ADDR_W - BANK_W;
            localparam CHUNK  = ECC != 0 ? CODE : 32;

            wire [BANK_W-1:0]       wbank = waddr[BANK_W-1:0];
            wire [BANK_W-1:0]       rbank = raddr[BANK_W-1:0];
            wire                    taken = re && re_ready;
            reg  [BANKS-1:0]        from_reg; // the bank that was read last, one bit each
            wire [BANKS*STORED-1:0] out;

            assign re_ready = !(we && wbank == rbank);

            for (i = 0; i < STORED / CHUNK; i = i + 1) begin : gen_chunk
                reg [CHUNK-1:0] chunk;
                integer k;
                always @* begin
                    chunk = {CHUNK{1'b0}};
                    for (k = 0; k < BANKS; k = k + 1) begin
                        chunk = chunk | (out[k*STORED + i*CHUNK +: CHUNK] & {CHUNK{from_reg[k]}});
                    end
                end
                assign row_out[i*CHUNK +: CHUNK] = chunk;
            end

            for (b = 0; b < BANKS; b = b + 1) begin : gen_bank
                localparam NUMBER = b;
                wire read_here  = taken && rbank == NUMBER[BANK_W-1:0];
                wire write_here = we && wbank == NUMBER[BANK_W-1:0];

                inc_mem_payload_1p #(.WORDS((ROWS + BANKS - 1) / BANKS), .BITS(STORED), .ADDR_W(LINE_W), .STYLE(STYLE)) u_mem (
                    .clk   (clk),
                    .en    (write_here || read_here),
                    .we    (write_here),
                    .addr  (write_here ? waddr[ADDR_W-1:BANK_W] : raddr[ADDR_W-1:BANK_W]),
                    .wdata (row_in),
                    .rdata (out[b*STORED +: STORED])
                );

                always @(posedge clk) begin
                    if (taken) begin
                        from_reg[b] <= read_here;
                    end
                end
            end
        end
    endgenerate

endmodule

`default_nettype wire
