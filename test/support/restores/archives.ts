import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../src/config/project-root.js';
import { makeFolder } from '../service/processes.js';

// Machines for the scripts of deploy/postgres: an archive, base backups, and programs in place of those of PostgreSQL.

export const segment = (timeline: string, number: number) =>
  `${timeline}00000000${number.toString(16).toUpperCase().padStart(8, '0')}`;

/** Returns the text of a history: the older timelines with the numbers of the files in which they ended. */
export const history = (...ends: [timeline: number, segment: number][]) =>
  ends
    .map(([timeline, end]) => `${timeline}\t0/${hex(end * SEGMENT_BYTES + 0x28)}\tbefore a time\n`)
    .join('');

const SEGMENT_BYTES = 0x1_00_00_00;
const DAY_MS = 86_400_000;
const hex = (value: number) => value.toString(16).toUpperCase();

type BaseBackup = {
  timeline: string;
  /** The numbers of its first and last file of WAL. */
  begins: number;
  ends: number;
  days?: number;
};

export type Machine = {
  /** Files of the archive and their contents. */
  archive: Record<string, string>;
  /** Files in pg_wal of the lost server; none if the disk is lost. */
  lost?: Record<string, string>;
  /** By their names. */
  backups?: Record<string, BaseBackup>;
  /** The server in the data folder. */
  server?: { state: string; timeline: string };
};

/** What the programs of PostgreSQL do, as far as the scripts see it. */
const PROGRAMS = (
  machine: string,
  end: number,
  { state, timeline } = { state: 'shut down', timeline: '00000009' },
) => ({
  pg_controldata: `echo "Bytes per WAL segment:    16777216"; echo "WAL block size:    8192"; echo "Latest checkpoint's TimeLineID:   ${Number.parseInt(timeline, 16)}"; echo "Database cluster state:   ${state}"`,
  pg_verifybackup: '',
  pg_ctl: 'exit 3',
  pg_waldump: 'exit 1',
  pg_archivecleanup: `test "$1" != -n || exit 0; test -n "$2" || exit 2
for file in "$1"/????????????????????????; do
  name=\${file##*/}
  test "\${name#????????}" = "\${2#????????}" || test "$(printf '%s\\n' "\${name#????????}" "\${2#????????}" | /usr/bin/sort | /usr/bin/head -n 1)" = "\${2#????????}" || /bin/rm "$file"
done`,
  // Single-user mode, in which give-up.sh asks for the databases and then in each one for the last start of the service.
  postgres: `case " $* " in *" -c restore_command="*) ;; *) read -r statement
  case $statement in *datname*) echo '	 1: datname = "template1"	(typeid = 19, len = 64, typmod = -1, byval = f)';; *) echo '	 1: seen = "never"	(typeid = 25, len = -1, typmod = -1, byval = f)';; esac
  exit;; esac
for each; do case $each in recovery_target_timeline=*) printf %s "\${each#*=}" >${machine}/followed;; esac; done
echo archive recovery complete
/bin/mkdir -p ${machine}/main.new/pg_wal
printf '1\t0/${hex(end * SEGMENT_BYTES)}\tno recovery target specified\n' >${machine}/main.new/pg_wal/${timeline}.history
for file in ${machine}/backup/archive/* ${machine}/main.lost/pg_wal/*; do echo "restored log file \\"\${file##*/}\\""; done`,
  runuser: 'shift 3; exec "$@"',
  chown: '',
});

/** Returns the highest number of a file of WAL. */
const lastSegment = (...folders: (Record<string, string> | undefined)[]) =>
  Math.max(
    0,
    ...folders
      .flatMap((files = {}) => Object.keys(files))
      .filter((name) => /^[0-9A-F]{24}$/.test(name))
      .map((name) => Number.parseInt(name.slice(16), 16)),
  );

/** Other programs that the scripts call, by their paths, because a search per call costs a process. */
const REAL = Object.fromEntries(
  'ls sed grep sort tail head cut cat cp mv rm cmp chmod touch sync find awk stat date wc id flock od'
    .split(' ')
    .map((name) => [name, existsSync(`/usr/bin/${name}`) ? `/usr/bin/${name}` : `/bin/${name}`]),
);

/** Creates a machine. */
export async function prepare(description: Machine) {
  const {
    archive,
    lost,
    server,
    backups = { base: { timeline: '00000001', begins: 1, ends: 1 } },
  } = description;
  const machine = await makeFolder();
  const put = (folder: string, files: Record<string, string>) => {
    mkdirSync(join(machine, folder), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(machine, folder, name), text);
  };
  put('backup/archive', archive);
  for (const name of Object.keys(archive).filter((each) => /^[0-9A-F]{24}$/.test(each)))
    truncateSync(join(machine, 'backup/archive', name), SEGMENT_BYTES);
  if (lost) put('main.lost/pg_wal', lost);
  if (server) {
    put('main/global', { pg_control: '' });
    put('main/pg_wal', { [`${server.timeline}.history`]: history([1, 2]) });
  }
  for (const [name, { timeline, begins, ends, days = 0 }] of Object.entries(backups)) {
    put(`backup/${name}`, {
      backup_label: `START WAL LOCATION: 0/28 (file ${segment(timeline, begins)})\n`,
      backup_manifest: `{ "Timeline": ${Number(timeline)}, "Start-LSN": "0/28", "End-LSN": "0/${hex(ends * SEGMENT_BYTES + 0x100)}" }\n`,
      'postgresql.auto.conf': '',
    });
    const time = new Date(Date.now() - days * DAY_MS);
    utimesSync(join(machine, 'backup', name, 'backup_manifest'), time, time);
  }
  const programs = {
    ...Object.fromEntries(Object.entries(REAL).map(([name, path]) => [name, `exec ${path} "$@"`])),
    ...PROGRAMS(machine, lastSegment(archive, lost) + 1, server),
  };
  for (const [name, script] of Object.entries(programs)) {
    // Each call adds one character to a file. The shell counts them itself: wc would be another process per call.
    put('bin', {
      [name]: `#!/bin/sh
printf '%s\\0' "${name} $*" >>${machine}/calls
printf . >>${machine}/count
read -r count <${machine}/count
test \${#count} != "$FAILING" || exit 1
${script}
`,
    });
    chmodSync(join(machine, 'bin', name), 0o755);
  }
  const env = {
    PATH: `${machine}/bin:${process.env['PATH']}`,
    DATA: `${machine}/main`,
    CONFIG: `${machine}/etc`,
    BIN: `${machine}/bin`,
    BACKUP: `${machine}/backup`,
    BASE: `${machine}/backup/base`,
    ARCHIVE: `${machine}/backup/archive`,
    LOST: lost ? `${machine}/main.lost` : '',
    REMAINDER: lost ? `${machine}/main.lost/pg_wal` : `${machine}/backup/archive`,
    UNTIL: '',
    KEEP_DAYS: '14',
  };
  return {
    machine,
    plant: (path: string) => writeFileSync(join(machine, path), ''),
    /** @param failing the number of the call of a program that fails */
    run(
      script: string,
      args: string[] = [],
      { failing = 0, ...more }: { failing?: number; LOST?: string; REMAINDER?: string } = {},
    ) {
      for (const file of ['calls', 'count']) writeFileSync(join(machine, file), '');
      const path = join(projectRoot, 'deploy', 'postgres', script);
      const { status, stdout, stderr } = spawnSync('/bin/sh', [path, ...args], {
        encoding: 'utf8',
        env: { ...env, ...more, FAILING: String(failing) },
      });
      return { status, output: `${stdout}${stderr}` };
    },
    /** Returns the calls of programs with their arguments, which may have several lines. */
    calls: () => readFileSync(join(machine, 'calls'), 'utf8').split('\0').slice(0, -1),
    /** Returns the timeline that PostgreSQL was told to follow. */
    followed: () => Number(readFileSync(join(machine, 'followed'), 'utf8')),
    isGivenUp: (timeline: string) => existsSync(join(env.ARCHIVE, `${timeline}.given-up`)),
  };
}
