// The answer to ~HS: three lines between STX and ETX, with fields separated by commas (ZPL II Programming Guide, "Host Status").
const STX = '\u0002';
const ETX = '\u0003';

const linesOf = (answer: string): string[][] =>
  answer
    .split(STX)
    .slice(1)
    .filter((line) => line.includes(ETX))
    .map((line) => line.slice(0, line.indexOf(ETX)).split(','));

export const isCompleteStatus = (answer: string): boolean => linesOf(answer).length >= 3;

/** Returns why the printer does not print now, as a clause; undefined if it prints. */
export function problemOf(answer: string): string | undefined {
  const [first = [], second = []] = linesOf(answer);
  if (first[1] === '1') return 'it is out of paper';
  if (second[2] === '1') return 'its head is open';
  if (second[3] === '1') return 'it is out of ribbon';
  if (first[2] === '1') return 'it is paused';
  return first[5] === '1' ? 'its buffer is full' : undefined;
}
