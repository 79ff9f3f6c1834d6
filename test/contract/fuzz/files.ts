/** A part of a multipart body that is a file. */
export type FilePart = { fileName: string; contentType: string; base64: string };

const PNG_1X1 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const csv = (text: string): FilePart => ({
  fileName: 'customers.csv',
  contentType: 'text/csv',
  base64: Buffer.from(text).toString('base64'),
});

// Files that the service accepts, by the name of their multipart part, or by operation and part.
const GOOD: Record<string, FilePart[]> = {
  file: [
    csv('user_code,first_name,last_name,branch\nFUZZ-1,Ann,Lee,Kingston\nFUZZ-2,Bo,Diaz,\n'),
    csv('\ufeffuser_code,first_name,last_name\r\nFUZZ-3,"O""Neil, J",Brown\r\nshort\r\n'),
  ],
  'uploadPrealerts file': [
    csv('tracking_number,user_code,vendor\nFUZZ-1,IEX-1001,Shop\nFUZZ-2,IEX-1002,\n'),
    csv('\ufeffUser Code;Tracking Number\r\nHRB-2001;FUZZ-3\r\n;\r\n'),
  ],
  logo: [{ fileName: 'logo.png', contentType: 'image/png', base64: PNG_1X1 }],
  document: [{ fileName: 'label.png', contentType: 'image/png', base64: PNG_1X1 }],
};

/** @throws when the table has no file for the part, because the fuzzer could then send no valid request */
export function filesFor(part: string, operationId: string): FilePart[] {
  const files = GOOD[`${operationId} ${part}`] ?? GOOD[part];
  if (!files)
    throw new Error(`Add a file that the part ${part} accepts to GOOD in test/contract/fuzz/files.ts.`);
  return files;
}

/** Files whose content does not match their declared type. */
export const HOSTILE: FilePart[] = [
  ['empty.csv', 'text/csv', Buffer.alloc(0)],
  ['nul.csv', 'text/csv', Buffer.from('user_code,first_name,last_name\nA\0,B,C\n')],
  ['latin1.csv', 'text/csv', Buffer.from('user_code,first_name,last_name\nA,Jos\xe9,C\n', 'latin1')],
  ['open-quote.csv', 'text/csv', Buffer.from('user_code,first_name,last_name\n"A,B,C\nD,E,F\n')],
  ['zip.csv', 'text/csv', Buffer.from('504b030414000000080000002100', 'hex')],
  ['gz.csv', 'text/csv', Buffer.from('1f8b0800000000000003', 'hex')],
  [
    'script.svg',
    'image/svg+xml',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'),
  ],
  ['bomb.svg', 'image/svg+xml', Buffer.from('<!DOCTYPE x [<!ENTITY a "aaaa">]><svg>&a;&a;</svg>')],
  ['half.png', 'image/png', Buffer.from(PNG_1X1, 'base64').subarray(0, 20)],
  ['../../etc/passwd', 'image/jpeg', Buffer.from('ffd8ffe000104a464946', 'hex')],
  ['a"b\u202e.gif', 'x/y', Buffer.from('GIF89a')],
].map(([fileName, contentType, bytes]) => ({
  fileName: String(fileName),
  contentType: String(contentType),
  base64: (bytes as Buffer).toString('base64'),
}));
