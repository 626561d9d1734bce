import { Alert, Button } from '@mantine/core';
import { Component, type ComponentType, type ReactElement, type ReactNode } from 'react';
import { describeError } from '../components/describe-error.ts';
import { ChunkNotLoaded } from '../components/lazy-component.ts';
import { texts } from './texts.ts';
import { ReloadWhenBack } from './reload-when-back.tsx';

interface Props {
  /** Shown in place of the failed part. */
  readonly fallback: ComponentType<{ readonly error: unknown }>;
  readonly children: ReactNode;
}

/** Contains a rendering error: only this part of the page fails. */
export class ErrorBoundary extends Component<Props, { readonly failed: { readonly error: unknown } | null }> {
  override state = { failed: null as { readonly error: unknown } | null };

  static getDerivedStateFromError(error: unknown): { failed: { error: unknown } } {
    return { failed: { error } };
  }

  override render(): ReactNode {
    const { failed } = this.state;
    const { fallback: Fallback, children } = this.props;
    return failed === null ? children : <Fallback error={failed.error} />;
  }
}

/** For secondary parts: shows nothing when they fail. */
export function NoFallback(): null {
  return null;
}

export function FailedPage({ error }: { readonly error: unknown }): ReactElement {
  if (error instanceof ChunkNotLoaded)
    return (
      <Alert color="orange" title={texts.couldNotLoadPage} role="alert">
        {describeError(error)}
        <ReloadWhenBack />
      </Alert>
    );
  return (
    <Alert color="red" title={texts.somethingWentWrong} role="alert">
      {describeError(error)}
      <Button mt="sm" display="block" onClick={() => location.reload()}>
        {texts.reload}
      </Button>
    </Alert>
  );
}
