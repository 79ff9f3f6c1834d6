import type { ResponseReader } from '../customers/public.js';
import type { Mask } from '../webhooks/public.js';
import type { Answer, Course } from './course.js';

/** What the requests of a check share. */
export type ListCheck = {
  course: Course;
  mask: Mask;
  url: string;
  readResponse: ResponseReader;
};

/** Nothing of a list is kept as evidence, because it has the names of people. */
export function found(
  { course, mask }: ListCheck,
  code: Parameters<Course['find']>[0],
  answer: Answer,
  detail: string,
): void {
  course.find(code, answer, mask, { detail, isPrivate: true });
}
