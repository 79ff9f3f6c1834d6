import type { Body } from '../sample-requests.js';
import { hasCredential, type Call } from './call.js';
import { literalWriter } from './literals.js';

/** Returns a JavaScript module. It runs in Node 18 and later, and in browsers unless it reads or writes a file. */
export function javascript(call: Call): string {
  const { method, url, headers, body, download } = call;
  const reads = body?.type === 'multipart' && body.files.length > 0;
  const names = [...(reads ? ['readFile'] : []), ...(download ? ['writeFile'] : [])];
  const imports = names.length > 0 ? `import { ${names.join(', ')} } from 'node:fs/promises';\n\n` : '';
  const values = headers.map(([name, value]) => `${fieldName(name)}: ${quote(value)}`);
  const options = [
    ...(method === 'GET' ? [] : [`method: ${quote(method)}`]),
    ...(values.length > 0 ? [`headers: { ${values.join(', ')} }`] : []),
    ...(body ? [bodyOption(body)] : []),
    ...(hasCredential(call) ? ["redirect: 'manual'"] : []),
  ];
  const init = options.length > 0 ? `, {\n${options.map((option) => `  ${option},\n`).join('')}}` : '';
  const shown = download
    ? `await writeFile(${quote(download)}, Buffer.from(await response.arrayBuffer()));`
    : 'console.log(await response.text());';
  return `${imports}${formLines(body)}const response = await fetch(${quote(url)}${init});
console.log(response.status);
${shown}`;
}

const quote = (text: string) => {
  const [, inner = ''] = /^"(.*)"$/s.exec(JSON.stringify(text)) ?? [];
  return `'${inner.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
};

const fieldName = (name: string) => (/^[A-Za-z_]\w*$/.test(name) ? name : quote(name));

const write = literalWriter({
  text: quote,
  word: String,
  object: ['{', '}'],
  entry: (name, value) => `${/^'[A-Za-z_]\w*'$/.test(name) ? name.slice(1, -1) : name}: ${value}`,
  emptyObject: '{}',
  indent: '  ',
});

function bodyOption(body: Body): string {
  switch (body.type) {
    case 'json':
      return `body: JSON.stringify(${write(body.value, '  ')})`;
    case 'text':
      return `body: ${quote(body.text)}`;
    case 'form': {
      const fields = body.fields.map(({ name, value }) => `${fieldName(name)}: ${quote(value)}`);
      return `body: new URLSearchParams({ ${fields.join(', ')} })`;
    }
    case 'multipart':
      return 'body: form';
  }
}

function formLines(body: Body | undefined): string {
  if (body?.type !== 'multipart') return '';
  const files = body.files.map(
    ({ name, fileName, contentType }) =>
      `form.append(${quote(name)}, new Blob([await readFile(${quote(fileName)})], { type: ${quote(contentType)} }), ${quote(fileName)});`,
  );
  const fields = body.fields.map(({ name, value }) => `form.append(${quote(name)}, ${quote(value)});`);
  return ['const form = new FormData();', ...files, ...fields, ''].join('\n');
}
