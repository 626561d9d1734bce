import { Alert, Button } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { inWords } from '../components/in-words.ts';

interface Props {
  readonly children: ReactNode;
}

/** A page that fails takes nothing with it but itself. */
export class PageBoundary extends Component<Props, { readonly error: unknown }> {
  override state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <Alert color="red" title="This page has failed" role="alert">
        {inWords(this.state.error)}
        <Button mt="sm" display="block" onClick={() => location.reload()}>
          Load again
        </Button>
      </Alert>
    );
  }
}
