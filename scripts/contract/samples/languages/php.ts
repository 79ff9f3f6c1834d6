import type { Body } from '../sample-requests.js';
import type { Call } from './call.js';
import { literalWriter } from './literals.js';

/** Returns a PHP script that needs only ext-curl and ext-json. */
export function php({ method, url, headers, body, download }: Call): string {
  const lines = headers.map(([name, value]) => quote(`${name}: ${value}`));
  const options = [
    `CURLOPT_CUSTOMREQUEST => ${quote(method)}`,
    ...(lines.length > 0 ? [`CURLOPT_HTTPHEADER => [${lines.join(', ')}]`] : []),
    ...(body ? [`CURLOPT_POSTFIELDS => ${bodyExpression(body)}`] : []),
    'CURLOPT_RETURNTRANSFER => true',
  ];
  const shown = download ? `file_put_contents(${quote(download)}, $body);` : 'echo $body, PHP_EOL;';
  return `<?php
$curl = curl_init(${quote(url)});
curl_setopt_array($curl, [
${options.map((option) => `    ${option},\n`).join('')}]);
$body = curl_exec($curl);
if ($body === false) {
    throw new RuntimeException(curl_error($curl));
}
echo curl_getinfo($curl, CURLINFO_RESPONSE_CODE), PHP_EOL;
${shown}`;
}

const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

// Only double quotes have escapes for line breaks.
const text = (value: string) =>
  /[\r\n\t]/.test(value) ? JSON.stringify(value).replaceAll('$', '\\$').replaceAll('\\/', '/') : quote(value);

const write = literalWriter({
  text,
  word: String,
  object: ['[', ']'],
  entry: (name, value) => `${name} => ${value}`,
  emptyObject: 'new stdClass()',
  indent: '    ',
});

function bodyExpression(body: Body): string {
  const fields = 'fields' in body ? body.fields : [];
  const pairs = fields.map(({ name, value }) => [quote(name), quote(value)]);
  switch (body.type) {
    case 'json':
      return `json_encode(${write(body.value, '    ')})`;
    case 'text':
      return text(body.text);
    case 'form':
      return `http_build_query([${pairs.map((pair) => pair.join(' => ')).join(', ')}])`;
    case 'multipart': {
      const files = body.files.map(({ name, fileName, contentType }) => [
        quote(name),
        `new CURLFile(${quote(fileName)}, ${quote(contentType)})`,
      ]);
      return `[\n${[...files, ...pairs].map((pair) => `        ${pair.join(' => ')},\n`).join('')}    ]`;
    }
  }
}
