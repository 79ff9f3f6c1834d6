// A process for task-process.test.ts: Linux ends it while it loads, as for want of memory.
process.kill(process.pid, 'SIGKILL');
