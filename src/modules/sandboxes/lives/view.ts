import type { components } from '../../../../generated/contract.js';
import { recordOf } from '../../../platform/contract/record.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { SandboxState } from './manage.js';
import { isLifeName, LIVES } from './table.js';

export const viewState = ({ clock, lives, misspelled }: SandboxState) => ({
  clock: recordOf(clock),
  lives: lives.map(viewLife),
  misspelled_numbers: misspelled,
});

function viewLife({
  id,
  nextDueAt,
  refusedCode: code,
  refusedMessage: message,
  ...life
}: SandboxState['lives'][number]): components['schemas']['SandboxLife'] {
  const steps = isLifeName(life.life) ? LIVES[life.life].map(({ name }) => name) : [];
  const step = steps[life.stepsPlayed];
  const isLeft = step !== undefined && life.state !== 'finished';
  return {
    life_id: id,
    ...recordOf(life),
    steps,
    next_step: isLeft ? { step, due_at: nextDueAt && formatDateTime(nextDueAt) } : null,
    refusal: code === null || message === null ? null : { code, message },
  };
}
