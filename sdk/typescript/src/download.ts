/** A file that the service sends. Read it once, in one of these ways. */
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
};

export function downloadOf(response: Response): Download {
  const length = response.headers.get('content-length');
  return {
    filename: filenameOf(response.headers.get('content-disposition')),
    contentType: response.headers.get('content-type') ?? 'application/octet-stream',
    // The length of a compressed response is not that of the file.
    size: length === null || response.headers.has('content-encoding') ? undefined : Number(length),
    stream: () => response.body ?? new Blob([]).stream(),
    blob: () => response.blob(),
    bytes: async () => new Uint8Array(await response.arrayBuffer()),
    text: () => response.text(),
  };
}

function filenameOf(disposition: string | null): string | undefined {
  const [, encoded] = /filename\*=UTF-8''([^;\s]+)/i.exec(disposition ?? '') ?? [];
  if (encoded) return decodeURIComponent(encoded);
  const [, quoted] = /filename="((?:[^"\\]|\\.)*)"/i.exec(disposition ?? '') ?? [];
  return quoted?.replaceAll(/\\(.)/g, '$1');
}
