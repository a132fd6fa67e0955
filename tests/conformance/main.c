// SPDX-License-Identifier: Apache-2.0
// conformance DEVICE: "cpu" or "cuda:0". Prints "N passed, N failed".
#include "tests/conformance/conformance.h"

#include <stdio.h>

int main(int count, char **arguments)
{
    open_devices(count > 1 ? arguments[1] : "cpu");
    check_maps();
    check_reductions();
    check_products();
    check_rest();
    check_composed();
    report_unexercised();
    close_devices();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
