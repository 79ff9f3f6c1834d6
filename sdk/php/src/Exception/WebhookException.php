<?php

declare(strict_types=1);

namespace Crossdock\Exception;

/**
 * The request is not a webhook of Crossdock, or is too old. Respond with status 400 and ignore it.
 */
final class WebhookException extends CrossdockException
{
}
