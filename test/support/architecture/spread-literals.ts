import ts from 'typescript';
import { findNodes, type Source } from './source.js';

/** `...['a', 'b']` and `...{ a, b }`, which only keep several items on one line. */
export const findSpreadLiterals = (source: Source): string[] =>
  findNodes(
    source,
    (node) =>
      (ts.isSpreadElement(node) && ts.isArrayLiteralExpression(node.expression)) ||
      (ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression)),
  );
