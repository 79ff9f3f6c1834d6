/** A file of a multipart body: what it calls itself, and what it holds. */
export type FormFile = { file: Buffer | string; name?: string; type?: string };
export type FormFields = Record<string, string | FormFile | (string | FormFile)[]>;

export const BOUNDARY = 'crossdock-test-boundary';
export const MULTIPART_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** One part of a multipart body, its headers as they are given; parts are joined by `assemble`. */
export type Part = { headers: string[]; content: string | Buffer };

export const toParts = (form: FormFields): Part[] =>
  Object.entries(form).flatMap(([field, values]) => [values].flat().map((value) => partOf(field, value)));

function partOf(field: string, value: string | FormFile): Part {
  const disposition = `Content-Disposition: form-data; name="${field}"`;
  if (typeof value === 'string') return { headers: [disposition], content: value };
  const { file, name = 'file', type = 'application/octet-stream' } = value;
  return { headers: [`${disposition}; filename="${name}"`, `Content-Type: ${type}`], content: file };
}

/** By hand, so that broken ones can be made too. */
export function assemble(parts: Part[]): Buffer {
  const pieces = parts.flatMap(({ headers, content }) => [
    `--${BOUNDARY}\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`,
    content,
    '\r\n',
  ]);
  return Buffer.concat([...pieces, `--${BOUNDARY}--\r\n`].map((piece) => Buffer.from(piece)));
}

export const multipartBody = (form: FormFields): Buffer => assemble(toParts(form));

/** A form from values as JSON has them; the fields named hold files. */
export const toForm = (fields: Record<string, unknown>, fileFields: readonly string[]): FormFields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return [name, fileFields.includes(name) ? { file: text } : text];
    }),
  );
