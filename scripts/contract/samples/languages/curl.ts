import type { Body } from '../sample-requests.js';
import type { Call } from './call.js';

/** Returns a curl command. */
export function curl({ method, url, headers, body, download }: Call): string {
  const verb = method === (body ? 'POST' : 'GET') ? [] : [`--request ${method}`];
  const options = [
    ...verb,
    ...headers.map(([name, value]) => `--header ${quote(`${name}: ${value}`)}`),
    ...bodyOptions(body),
    ...(download ? [`--output ${download}`] : []),
  ];
  return [`curl ${quote(url)}`, ...options].join(' \\\n  ');
}

function bodyOptions(body: Body | undefined): string[] {
  switch (body?.type) {
    case 'json':
      return [`--data-raw ${quote(JSON.stringify(body.value, null, 2))}`];
    case 'text':
      return [`--data-binary ${quote(body.text)}`];
    case 'form':
      return body.fields.map(({ name, value }) => `--data-urlencode ${quote(`${name}=${value}`)}`);
    case 'multipart':
      return [
        ...body.files.map(
          ({ name, fileName, contentType }) => `--form ${quote(`${name}=@${fileName};type=${contentType}`)}`,
        ),
        ...body.fields.map(({ name, value }) => `--form-string ${quote(`${name}=${value}`)}`),
      ];
    default:
      return [];
  }
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
