"""A test bed for corrections: any method of estimation is scored where the truth is known."""
