<?php

declare(strict_types=1);

namespace Crossdock;

/**
 * One page of a list.
 *
 * @template T
 */
final class Page
{
    /**
     * @param list<T> $items
     * @param int $total Number of records on all pages.
     * @param array<string, mixed> $meta Everything that the list says about itself, for example `stats` of pre-alerts.
     */
    public function __construct(
        public readonly array $items,
        public readonly int $total,
        public readonly array $meta,
    ) {
    }
}
