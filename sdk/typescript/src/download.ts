import type { TimeLimit } from './attempt.js';

/** A file that the service sends. Read it once, in one of these ways. All but `stream` repeat it if the connection breaks. */
export type Download = {
  /** The name that the service gives the file. */
  filename: string | undefined;
  contentType: string;
  /** The size in bytes, if the service states it. */
  size: number | undefined;
  stream(): ReadableStream<Uint8Array>;
  blob(): Promise<Blob>;
  bytes(): Promise<Uint8Array>;
  text(): Promise<string>;
  /** Reads the file with a function, and again from its start if the connection breaks. */
  whole<Result>(read: (stream: ReadableStream<Uint8Array>) => Promise<Result>): Promise<Result>;
};

/** A response whose body has not been read. */
export type Opened = { response: Response; limit: TimeLimit };

/** Reads a response with a function, and sends its request again if the connection breaks. */
export type Repeat = <Result>(first: Opened, read: (opened: Opened) => Promise<Result>) => Promise<Result>;

export function downloadOf(first: Opened, repeat: Repeat): Download {
  const { headers } = first.response;
  const length = headers.get('content-length');
  const whole: Download['whole'] = (read) => repeat(first, (opened) => read(streamOf(opened)));
  return {
    filename: filenameOf(headers.get('content-disposition')),
    contentType: headers.get('content-type') ?? 'application/octet-stream',
    // The length of a compressed response is not that of the file.
    size: length === null || headers.has('content-encoding') ? undefined : Number(length),
    stream: () => streamOf(first),
    blob: () => whole((stream) => new Response(stream, { headers: typeOf(headers) }).blob()),
    bytes: async () => new Uint8Array(await whole((stream) => new Response(stream).arrayBuffer())),
    text: () => whole((stream) => new Response(stream).text()),
    whole,
  };
}

const typeOf = (headers: Headers) => ({ 'content-type': headers.get('content-type') ?? '' });

/** The body of a response. The time limit is for each part: a caller may take its time between them. */
function streamOf({ response, limit }: Opened): ReadableStream<Uint8Array> {
  if (!response.body) return new Blob([]).stream();
  const reader = response.body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          limit.restart();
          const part = await limit.within(reader.read());
          if (part.done) {
            limit.end();
            controller.close();
            return;
          }
          limit.pause();
          controller.enqueue(part.value);
        } catch (error) {
          limit.end();
          // Closes the connection.
          reader.cancel().catch(() => undefined);
          throw limit.errorOf(error);
        }
      },
      async cancel(reason) {
        limit.end();
        await reader.cancel(reason);
      },
    },
    // Nothing is read before the caller wants it.
    { highWaterMark: 0 },
  );
}

function filenameOf(disposition: string | null): string | undefined {
  const [, encoded] = /filename\*=UTF-8''([^;\s]+)/i.exec(disposition ?? '') ?? [];
  if (encoded) return decodeURIComponent(encoded);
  const [, quoted] = /filename="((?:[^"\\]|\\.)*)"/i.exec(disposition ?? '') ?? [];
  return quoted?.replaceAll(/\\(.)/g, '$1');
}
