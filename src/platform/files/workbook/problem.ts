import { messageLimits } from './bounds.js';

/** Why a workbook is refused. Each is a problem of openapi/errors.yaml. */
export type WorkbookProblem =
  | [
      | 'workbook_missing'
      | 'workbook_locked'
      | 'workbook_damaged'
      | 'workbook_formulas'
      | 'workbook_empty'
      | 'workbook_complex',
    ]
  | ['workbook_large', { limit: string }]
  | ['workbook_text', { cell: string }];

/** Thrown in the worker thread, which returns its problem. */
export class WorkbookError extends Error {
  readonly problem: WorkbookProblem;

  constructor(...problem: WorkbookProblem) {
    super(problem[0]);
    this.problem = problem;
  }
}

export const damaged = (): WorkbookError => new WorkbookError('workbook_damaged');

export const tooLarge = (limit: keyof typeof messageLimits): WorkbookError =>
  new WorkbookError('workbook_large', { limit: messageLimits[limit] });
