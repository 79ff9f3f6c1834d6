/** A file to upload. A stream can be read once, so that its upload is not retried; the others are. */
export type Uploadable =
  | Blob
  | Uint8Array
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | FileSource;

/** A file that can be opened again for each attempt, for example `fileAt(path)` of `@crossdock/sdk/node`. */
export type FileSource = {
  name: string;
  type?: string;
  open(): ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;
};

/** The fields of a form, with every file as an Uploadable. */
export type Upload<Fields> = {
  [Name in keyof Fields]: Extract<Fields[Name], Blob> extends never
    ? Fields[Name]
    : Exclude<Fields[Name], Blob | File> | Uploadable;
};

/** A form body that can be created for each attempt. */
export type Form = {
  isRepeatable: boolean;
  headers: Record<string, string>;
  /** `onProgress` is called when a part is read, to be sent. */
  open(onProgress: () => void): Promise<object>;
};

type Part = { name: string; value: string | Blob | FileSource };

// Browsers send streams only over HTTP/2, and most not at all. There, a stream becomes a Blob, which may be on disk.
const canStream = !('document' in globalThis) && !('importScripts' in globalThis);

/** Returns a form whose files are sent while they are read. */
export function formOf(fields: unknown): Form {
  const given = Object.entries(Object(fields) as Record<string, unknown>).filter(
    ([, value]) => value !== undefined,
  );
  const parts = given.map(([name, value]): Part => ({ name, value: partOf(name, value) }));
  const isRepeatable = !given.some(([, value]) => isStream(value));
  if (parts.every(({ value }) => typeof value === 'string'))
    return { isRepeatable, headers: {}, open: () => Promise.resolve(nativeForm(parts)) };
  if (!canStream)
    return { isRepeatable, headers: {}, open: async () => nativeForm(await Promise.all(parts.map(toBlob))) };
  const boundary = `crossdock-${crypto.randomUUID()}`;
  return {
    isRepeatable,
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    open: (onProgress) =>
      Promise.resolve({
        body: streamOf(encode(parts, boundary), onProgress),
        bodySerializer: null,
        duplex: 'half' as const,
      }),
  };
}

/** Files are read when they are sent. Everything else is text. */
function partOf(name: string, value: unknown): Part['value'] {
  if (value instanceof Blob) return value;
  if (value instanceof Uint8Array) return new Blob([new Uint8Array(value)]);
  if (isSource(value)) return value;
  if (isStream(value)) return { name, open: () => value };
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const isSource = (value: unknown): value is FileSource =>
  typeof value === 'object' && value !== null && 'open' in value && typeof value.open === 'function';

const isStream = (value: unknown): value is ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> =>
  value instanceof ReadableStream ||
  (typeof value === 'object' && value !== null && Symbol.asyncIterator in value && !(value instanceof Blob));

function nativeForm(parts: Part[]): object {
  const form = new FormData();
  for (const { name, value } of parts) {
    if (typeof value === 'string') form.append(name, value);
    else if (value instanceof Blob) form.append(name, value, filenameOf(name, value));
  }
  return { body: form, bodySerializer: null };
}

async function toBlob({ name, value }: Part): Promise<Part> {
  if (typeof value === 'string' || value instanceof Blob) return { name, value };
  const blob = await new Response(streamOf(value.open())).blob();
  return { name, value: new File([blob], value.name, { type: value.type ?? '' }) };
}

/** Encodes the form as RFC 7578 describes. */
async function* encode(parts: Part[], boundary: string): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (const { name, value } of parts) {
    if (typeof value === 'string') {
      yield encoder.encode(
        `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"\r\n\r\n${value}\r\n`,
      );
      continue;
    }
    const disposition = `form-data; name="${escaped(name)}"; filename="${escaped(filenameOf(name, value))}"`;
    const type = value.type ? value.type : 'application/octet-stream';
    yield encoder.encode(
      `--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${type}\r\n\r\n`,
    );
    yield* value instanceof Blob ? value.stream() : value.open();
    yield encoder.encode('\r\n');
  }
  yield encoder.encode(`--${boundary}--\r\n`);
}

const escaped = (text: string) => text.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');

/** The name of the file, or of the field for content without a name. */
function filenameOf(field: string, value: Blob | FileSource): string {
  return 'name' in value && typeof value.name === 'string' && value.name ? value.name : field;
}

function streamOf(
  chunks: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
  onProgress: () => void = () => undefined,
): ReadableStream<Uint8Array> {
  if (chunks instanceof ReadableStream) return chunks;
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      onProgress();
      const next = await iterator.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
