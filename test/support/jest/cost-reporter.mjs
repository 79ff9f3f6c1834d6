// Prints the CPU seconds of each test file and which programs use them: jest and its worker, PostgreSQL, browsers, and other processes
// that tests start (npm run test:cost). Unlike the time on the clock, they hardly depend on what else the machine does.
import { relative, sep } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { MS_PER_TICK, treeOf } from '../../../dist/scripts/measure/rig/cpu.js';

/** What processes use after the last look is known from the sum of their parent only: the column `ended`. */
const LOOK_MS = 2_000;
const KINDS = ['jest', 'postgres', 'browser', 'node', 'other'];
const COLUMNS = ['clock', 'cpu', ...KINDS, 'ended'];

export default class CostReporter {
  /** The kind and the ticks of each process that was seen, by its id. */
  seen = new Map();
  sums = empty();

  constructor({ rootDir }) {
    this.root = rootDir;
  }

  onRunStart() {
    this.timer = setInterval(() => this.look(), LOOK_MS);
    this.before = this.look();
    print(COLUMNS, 'tests  file');
  }

  onTestFileResult({ path }, { numPassingTests, numFailingTests, failureMessage }) {
    const after = this.look();
    const figures = empty();
    for (const column of COLUMNS) {
      figures[column] = after[column] - this.before[column];
      this.sums[column] += figures[column];
    }
    this.before = after;
    const file = relative(this.root, path).split(sep).join('/');
    print(cellsOf(figures), `${String(numPassingTests).padStart(5)}  ${file}`);
    if (numFailingTests > 0 || failureMessage) process.stdout.write(`${failureMessage}\n`);
  }

  onRunComplete() {
    clearInterval(this.timer);
    print(cellsOf(this.sums), '       all');
  }

  /** Returns the clock and the CPU time of jest and everything that it has started, in seconds. */
  look() {
    const figures = empty();
    figures.clock = Date.now() / 1_000;
    const living = treeOf(process.pid);
    for (const each of living)
      this.seen.set(each.pid, { kind: kindOf(each), parent: each.parent, seconds: secondsOf(each.own) });
    for (const { kind, seconds } of this.seen.values()) figures[kind] += seconds;
    const pids = new Set(living.map(({ pid }) => pid));
    const dead = [...this.seen].filter(([pid]) => !pids.has(pid)).map(([, each]) => each);
    for (const { pid, endedChildren } of living) {
      const known = dead
        .filter(({ parent }) => parent === pid)
        .reduce((sum, { seconds }) => sum + seconds, 0);
      figures.ended += Math.max(0, secondsOf(endedChildren) - known);
    }
    figures.cpu = [...KINDS, 'ended'].reduce((sum, kind) => sum + figures[kind], 0);
    return figures;
  }
}

const secondsOf = (ticks) => (ticks * MS_PER_TICK) / 1_000;

const empty = () => Object.fromEntries(COLUMNS.map((column) => [column, 0]));

function kindOf({ pid, parent, name }) {
  if (name.startsWith('postgres')) return 'postgres';
  if (/chrom|headless/.test(name)) return 'browser';
  if (!name.startsWith('node') && name !== 'MainThread') return 'other';
  // The worker that runs the test files is a child of this process.
  return pid === process.pid || parent === process.pid ? 'jest' : 'node';
}

const cellsOf = (figures) => COLUMNS.map((column) => figures[column].toFixed(1));

const print = (cells, rest) =>
  process.stdout.write(`${cells.map((cell) => cell.padStart(8)).join(' ')}  ${rest}\n`);
