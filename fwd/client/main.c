// SPDX-License-Identifier: Apache-2.0
#include "fwd/client/command.h"

int main(int argc, char **argv)
{
    int status = command_main(argc, argv, stdout, stderr);
    if (fflush(stdout) != 0 && status == COMMAND_OK)
        status = COMMAND_FAILED;
    return status;
}
