import type { Body, FormBody, MultipartBody } from '../sample-requests.js';
import { hasCredential, type Call } from './call.js';

/** Returns a Go program that needs only the standard library. */
export function go(call: Call): string {
  const { method, url, headers, body, download } = call;
  const { packages, lines, reader, contentType } = bodyParts(body);
  const imports = ['fmt', 'io', 'log', 'net/http', ...packages, ...(download ? ['os'] : [])];
  const all = headers.map(([name, value]) => [quote(name), quote(value)]);
  if (contentType) all.push([quote('Content-Type'), contentType]);
  const main = [
    ...lines,
    `request, err := http.NewRequest(${quote(method)}, ${quote(url)}, ${reader})`,
    ...FAIL,
    ...all.map((pair) => `request.Header.Set(${pair.join(', ')})`),
    ...(hasCredential(call) ? NO_REDIRECT : []),
    `response, err := ${hasCredential(call) ? 'client' : 'http.DefaultClient'}.Do(request)`,
    ...FAIL,
    'defer response.Body.Close()',
    'answer, err := io.ReadAll(response.Body)',
    ...FAIL,
    'fmt.Println(response.StatusCode)',
    ...(download
      ? [`if err := os.WriteFile(${quote(download)}, answer, 0o644); err != nil {`, '\tlog.Fatal(err)', '}']
      : ['fmt.Println(string(answer))']),
  ];
  return `package main

import (
${[...new Set(imports)]
  .sort()
  .map((name) => `\t"${name}"\n`)
  .join('')})

func main() {
${main.map((line) => `\t${line}\n`).join('')}}`;
}

const NO_REDIRECT = [
  'client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {',
  '\treturn http.ErrUseLastResponse',
  '}}',
];

const FAIL = ['if err != nil {', '\tlog.Fatal(err)', '}'];

const quote = (text: string) => JSON.stringify(text);

// A raw string shows JSON as it is sent, but cannot contain a backquote.
const raw = (text: string) => (text.includes('`') ? quote(text) : `\`${text}\``);

/** The imports and lines that make the body, its reader, and its type if it is a form. */
type Parts = { packages: string[]; lines: string[]; reader: string; contentType: string | undefined };

function bodyParts(body: Body | undefined): Parts {
  switch (body?.type) {
    case 'json':
      return readerOf(raw(JSON.stringify(body.value, null, 2)));
    case 'text':
      return readerOf(raw(body.text));
    case 'form':
      return formParts(body);
    case 'multipart':
      return multipartParts(body);
    default:
      return { packages: [], lines: [], reader: 'nil', contentType: undefined };
  }
}

const readerOf = (text: string): Parts => ({
  packages: ['strings'],
  lines: [`body := strings.NewReader(${text})`],
  reader: 'body',
  contentType: undefined,
});

function formParts({ fields }: FormBody): Parts {
  const entries = fields.map(({ name, value }) => `${quote(name)}: {${quote(value)}}`);
  return {
    packages: ['net/url', 'strings'],
    lines: [`form := url.Values{${entries.join(', ')}}`],
    reader: 'strings.NewReader(form.Encode())',
    contentType: quote('application/x-www-form-urlencoded'),
  };
}

function multipartParts({ fields, files }: MultipartBody): Parts {
  const fileLines = files.flatMap(({ name, fileName, contentType }) => [
    `header := textproto.MIMEHeader{}`,
    `header.Set("Content-Disposition", ${raw(`form-data; name="${name}"; filename="${fileName}"`)})`,
    `header.Set("Content-Type", ${quote(contentType)})`,
    'part, err := form.CreatePart(header)',
    ...FAIL,
    `content, err := os.ReadFile(${quote(fileName)})`,
    ...FAIL,
    'part.Write(content)',
  ]);
  return {
    packages: ['bytes', 'mime/multipart', ...(files.length > 0 ? ['net/textproto', 'os'] : [])],
    lines: [
      'var body bytes.Buffer',
      'form := multipart.NewWriter(&body)',
      ...fileLines,
      ...fields.map(({ name, value }) => `form.WriteField(${quote(name)}, ${quote(value)})`),
      'form.Close()',
    ],
    reader: '&body',
    contentType: 'form.FormDataContentType()',
  };
}
