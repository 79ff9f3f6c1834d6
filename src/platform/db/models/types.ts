/** The rows of Prisma's models, from which modules derive the row types of their statements. */
export type * from '../../../../generated/prisma/client.js';
