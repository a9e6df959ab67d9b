# Where a RISC-V core begins, where it goes for interrupts and exceptions, and accesses that may be refused.
  .option arch, +zicsr

  .cfi_sections .debug_frame
  .section .text.start, "ax"
  .globl _start
  .type _start, @function
_start:
  .cfi_startproc
  .cfi_undefined ra  # nobody has called it: a debugger's backtrace ends here
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  la sp, t3_stack_end
  la tp, t3_tls
  la t0, t3_fault_frame
  csrw mscratch, t0
  la t0, t3_trap_vectors + 1
  csrw mtvec, t0
  la t0, t3_zero_begin
  la t1, t3_zero_end
1:
  bgeu t0, t1, 2f
  sd zero, 0(t0)
  addi t0, t0, 8
  j 1b
2:
  call t3_start_c
  .cfi_endproc
  .size _start, . - _start

  .text
  .balign 64
  .option push
  .option norvc
t3_trap_vectors:  # vectored: a jump of 4 bytes for each cause of an interrupt, the first for all exceptions
  j exception
  .rept 10
  j unexpected_interrupt
  .endr
  j external_interrupt
  .option pop

# On the stack of what is interrupted: interrupts are taken one within the other.
  .type external_interrupt, @function
external_interrupt:
  addi sp, sp, -144
  sd ra, 0(sp)
  sd t0, 8(sp)
  sd t1, 16(sp)
  sd t2, 24(sp)
  sd t3, 32(sp)
  sd t4, 40(sp)
  sd t5, 48(sp)
  sd t6, 56(sp)
  sd a0, 64(sp)
  sd a1, 72(sp)
  sd a2, 80(sp)
  sd a3, 88(sp)
  sd a4, 96(sp)
  sd a5, 104(sp)
  sd a6, 112(sp)
  sd a7, 120(sp)
  csrr t0, mepc
  csrr t1, mstatus
  sd t0, 128(sp)
  sd t1, 136(sp)
  call t3_interrupted
  ld t0, 128(sp)
  ld t1, 136(sp)
  csrw mepc, t0
  csrw mstatus, t1
  ld ra, 0(sp)
  ld t0, 8(sp)
  ld t1, 16(sp)
  ld t2, 24(sp)
  ld t3, 32(sp)
  ld t4, 40(sp)
  ld t5, 48(sp)
  ld t6, 56(sp)
  ld a0, 64(sp)
  ld a1, 72(sp)
  ld a2, 80(sp)
  ld a3, 88(sp)
  ld a4, 96(sp)
  ld a5, 104(sp)
  ld a6, 112(sp)
  ld a7, 120(sp)
  addi sp, sp, 144
  mret
  .size external_interrupt, . - external_interrupt

# On a stack of its own: the program's may be what is used up. An access fault of a guarded access is its result.
exception:
  csrrw sp, mscratch, sp
  sd t0, 0(sp)
  sd t1, 8(sp)
  csrr t0, mcause
  addi t0, t0, -5
  andi t0, t0, -3  # 0 for causes 5 and 7
  bnez t0, fatal
  csrr t0, mepc
  la t1, guarded_begin
  bltu t0, t1, fatal
  la t1, guarded_end
  bgeu t0, t1, fatal
  csrw mepc, ra
  ld t0, 0(sp)
  ld t1, 8(sp)
  csrrw sp, mscratch, sp
  li a0, 0
  li a1, 1
  mret
unexpected_interrupt:
  csrrw sp, mscratch, sp
fatal:
  csrr a0, mcause
  csrr a1, mepc
  csrr a2, mtval
  csrr a3, mscratch
  mv a4, ra
  la sp, t3_fault_stack_end
  call t3_fault

  .bss
  .balign 16
t3_fault_frame:
  .zero 16
  .zero 2048
t3_fault_stack_end:

# struct t3_access: a0 what is read, a1 whether the access is refused. One access each, in the first instruction.
  .text
guarded_begin:
  .macro access name, instruction:vararg
  .globl \name
  .type \name, @function
\name:
  \instruction
  li a1, 0
  ret
  .size \name, . - \name
  .endm
  access t3_load8, lbu a0, 0(a0)
  access t3_load32, lwu a0, 0(a0)
  access t3_load64, ld a0, 0(a0)
  access t3_store8, sb a1, 0(a0)
  access t3_store32, sw a1, 0(a0)
  access t3_store64, sd a1, 0(a0)
guarded_end:
