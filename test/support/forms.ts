/** A file of a multipart body: what it calls itself, and what it holds. */
export type FormFile = { file: Buffer | string; name?: string; type?: string };
export type FormFields = Record<string, string | FormFile | (string | FormFile)[]>;

export const BOUNDARY = 'crossdock-test-boundary';
export const MULTIPART_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** A multipart body made by hand, as bytes that a test may break. */
export function multipartBody(fields: FormFields): Buffer {
  const parts = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value) => partOf(name, value)),
  );
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

function partOf(field: string, value: string | FormFile): Buffer {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"`;
  if (typeof value === 'string') return Buffer.from(`${head}\r\n\r\n${value}\r\n`);
  const { file, name = 'file', type = 'application/octet-stream' } = value;
  const open = `${head}; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n`;
  return Buffer.concat([Buffer.from(open), Buffer.from(file), Buffer.from('\r\n')]);
}
