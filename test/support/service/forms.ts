/** A file of a multipart body: its content, name and media type. */
export type FormFile = { file: Buffer | string; name?: string; type?: string };
export type FormFields = Record<string, string | FormFile | (string | FormFile)[]>;

export const BOUNDARY = 'crossdock-test-boundary';
export const MULTIPART_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** One part of a multipart body. `assemble` joins the parts and does not change their headers. */
export type Part = { headers: string[]; content: string | Buffer };

export const toParts = (form: FormFields): Part[] =>
  Object.entries(form).flatMap(([field, values]) => [values].flat().map((value) => partOf(field, value)));

function partOf(field: string, value: string | FormFile): Part {
  const disposition = `Content-Disposition: form-data; name="${field}"`;
  if (typeof value === 'string') return { headers: [disposition], content: value };
  const { file, name = 'file', type = 'application/octet-stream' } = value;
  return { headers: [`${disposition}; filename="${name}"`, `Content-Type: ${type}`], content: file };
}

/** Builds a multipart body without a library, so that tests can also build invalid ones. */
export function assemble(parts: Part[]): Buffer {
  const pieces = parts.flatMap(({ headers, content }) => [
    `--${BOUNDARY}\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`,
    content,
    '\r\n',
  ]);
  return Buffer.concat([...pieces, `--${BOUNDARY}--\r\n`].map((piece) => Buffer.from(piece)));
}

export const multipartBody = (form: FormFields): Buffer => assemble(toParts(form));

/** Returns a form with the given JSON values. The values of `fileFields` are sent as files. */
export const toForm = (fields: Record<string, unknown>, fileFields: readonly string[]): FormFields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return [name, fileFields.includes(name) ? { file: text } : text];
    }),
  );
