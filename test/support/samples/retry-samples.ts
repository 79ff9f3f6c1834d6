import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../src/config/project-root.js';

const FOLDER = join(projectRoot, 'docs/site/samples/retries');

export type RetrySample = {
  language: string;
  /** The programs that it needs, by their commands. */
  programs: string[];
  source: string;
  /** Sends one request as the environment says, and prints what the function returns. */
  command: [program: string, ...args: string[]];
};

/** The published functions that send a request again. Each reads URL, API_KEY, KEY, BODY and LIMIT (seconds). */
export const RETRY_SAMPLES: RetrySample[] = [
  {
    language: 'shell',
    programs: ['sh', 'curl', 'sed', 'awk', 'od'],
    source: sourceOf('send-safely.sh'),
    command: [
      'sh',
      '-euc',
      `. '${FOLDER}/send-safely.sh'
       send_safely "$KEY" "$URL" -H "X-API-KEY: $API_KEY" -H 'Content-Type: application/json' -d "$BODY"`,
    ],
  },
  {
    language: 'PHP',
    programs: ['php'],
    source: sourceOf('send-safely.php'),
    command: [
      'php',
      '-r',
      `require '${FOLDER}/send-safely.php';
       $headers = ['Content-Type: application/json', 'X-API-KEY: ' . getenv('API_KEY')];
       echo json_encode(sendSafely(getenv('URL'), $headers, getenv('BODY'), getenv('KEY'), (int) getenv('LIMIT')));`,
    ],
  },
  {
    language: 'Python',
    programs: ['python3'],
    source: sourceOf('send_safely.py'),
    command: [
      'python3',
      '-Bc',
      `import json, os, sys
sys.path.insert(0, '${FOLDER}')
from send_safely import send_safely
env = os.environ
headers = {"Content-Type": "application/json", "X-API-KEY": env["API_KEY"]}
print(json.dumps(send_safely(env["URL"], headers, env["BODY"], env["KEY"], float(env["LIMIT"]))))`,
    ],
  },
  {
    language: 'JavaScript',
    programs: [],
    source: sourceOf('send-safely.mjs'),
    command: [
      process.execPath,
      '--input-type=module',
      '-e',
      `const { sendSafely } = await import('${FOLDER}/send-safely.mjs');
       const { URL: url, API_KEY, KEY: key, BODY: body, LIMIT } = process.env;
       const headers = { 'Content-Type': 'application/json', 'X-API-KEY': API_KEY };
       console.log(JSON.stringify(await sendSafely(url, { headers, body, key, limitMs: LIMIT * 1000 })));`,
    ],
  },
];

function sourceOf(name: string): string {
  return readFileSync(join(FOLDER, name), 'utf8');
}
