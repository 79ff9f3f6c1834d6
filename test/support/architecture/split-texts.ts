import ts from 'typescript';
import { findNodes, type Source } from './source.js';

/** `'one two'.split(' ')` instead of a list. */
export const findSplitTexts = (source: Source): string[] =>
  findNodes(
    source,
    (node) =>
      ts.isCallExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      node.expression.name.text === 'split' &&
      ts.isStringLiteralLike(node.expression.expression),
  );
