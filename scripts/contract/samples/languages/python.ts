import type { Body, SampleFile } from '../sample-requests.js';
import { hasCredential, type Call } from './call.js';
import { literalWriter } from './literals.js';

/** Returns a Python script that needs only the package requests. */
export function python(call: Call): string {
  const { method, url, headers, body, download } = call;
  // requests sets the type of a JSON body itself.
  const own = headers.filter(([name]) => name !== 'Content-Type' || body?.type !== 'json');
  const values = own.map(([name, value]) => `${text(name)}: ${text(value)}`);
  const options = [
    text(url),
    ...(values.length > 0 ? [`headers={${values.join(', ')}}`] : []),
    ...bodyOptions(body),
    ...(hasCredential(call) ? ['allow_redirects=False'] : []),
    'timeout=30',
  ];
  const shown = download
    ? `with open(${text(download)}, "wb") as file:\n    file.write(response.content)`
    : 'print(response.text)';
  return `import requests

response = requests.${method.toLowerCase()}(
${options.map((option) => `    ${option},\n`).join('')})
print(response.status_code)
${shown}`;
}

// JSON's escapes of strings are also Python's.
const text = (value: string) => JSON.stringify(value);

const write = literalWriter({
  text,
  word: (value) => (value === null ? 'None' : value ? 'True' : 'False'),
  object: ['{', '}'],
  entry: (name, value) => `${name}: ${value}`,
  emptyObject: '{}',
  indent: '    ',
});

function bodyOptions(body: Body | undefined): string[] {
  const given = body && 'fields' in body ? body.fields : [];
  const data = Object.fromEntries(given.map(({ name, value }) => [name, value]));
  const fields = Object.keys(data).length > 0 ? [`data=${write(data, '    ')}`] : [];
  switch (body?.type) {
    case 'json':
      return [`json=${write(body.value, '    ')}`];
    case 'text':
      return [`data=${text(body.text)}.encode()`];
    case 'form':
      return fields;
    case 'multipart':
      return [...filesOption(body.files, data), ...(body.files.length > 0 ? fields : [])];
    default:
      return [];
  }
}

function filesOption(files: SampleFile[], data: Record<string, string>): string[] {
  const parts = files.map(
    ({ name, fileName, contentType }) =>
      `${text(name)}: (${text(fileName)}, open(${text(fileName)}, "rb"), ${text(contentType)})`,
  );
  // Without a file, requests would send another type of form.
  const texts =
    files.length > 0
      ? []
      : Object.entries(data).map(([name, value]) => `${text(name)}: (None, ${text(value)})`);
  return [`files={${[...parts, ...texts].join(', ')}}`];
}
