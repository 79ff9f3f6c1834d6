// Sections of a WebAssembly module: a byte for the kind, the size as LEB128, and the content (WebAssembly core specification, 5.5).
const HEADER_BYTES = 8;
const MEMORY = 5;
const [WITHOUT_MAXIMUM, WITH_MAXIMUM] = [0, 1];
const PAGES_PER_MIB = 16;

/**
 * Returns a WebAssembly module whose memory cannot grow beyond `maxMib`. When it would, the module fails. Our own, because a worker's
 * limits do not cover this memory, and libraries that edit modules are larger than the module.
 *
 * @throws Error if the module does not define one memory without a maximum
 */
export function limitMemory(module: Uint8Array, maxMib: number): Uint8Array {
  let at = HEADER_BYTES;
  while (at < module.length) {
    const size = readNumber(module, at + 1);
    const end = size.end + size.value;
    if (module[at] === MEMORY) {
      const limited = limitedSection(module.subarray(size.end, end), maxMib * PAGES_PER_MIB);
      return Buffer.concat([module.subarray(0, at), limited, module.subarray(end)]);
    }
    at = end;
  }
  throw new Error('The module has no memory.');
}

function limitedSection(content: Uint8Array, maxPages: number): Buffer {
  const count = readNumber(content, 0);
  const least = readNumber(content, count.end + 1);
  if (count.value !== 1 || content[count.end] !== WITHOUT_MAXIMUM || least.end !== content.length)
    throw new Error('The module has another memory than expected.');
  const memory = [1, WITH_MAXIMUM, ...written(least.value), ...written(maxPages)];
  return Buffer.from([MEMORY, ...written(memory.length), ...memory]);
}

/** Reads an unsigned LEB128 number. `end` is the index after it. */
function readNumber(bytes: Uint8Array, start: number): { value: number; end: number } {
  let [value, shift, at] = [0, 0, start];
  for (;;) {
    const byte = bytes[at];
    if (byte === undefined) throw new Error('The module ends within a number.');
    at += 1;
    value += (byte & 0x7f) * 2 ** shift;
    shift += 7;
    if (byte < 0x80) return { value, end: at };
  }
}

/** Returns an unsigned number as LEB128. */
function written(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...written(Math.floor(value / 0x80))];
}
